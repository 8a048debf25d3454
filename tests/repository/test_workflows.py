"""What runs on a pull request reaches no secret, and what others named is never a part of a script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).parents[2] / ".github" / "workflows").glob("*.yml"))


def steps(workflow: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for job in workflow["jobs"].values():
        for step in job["steps"]:
            yield job, step


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_gives_strangers_nothing(path: Path) -> None:
    text = path.read_text()
    workflow = yaml.load(text, Loader=yaml.BaseLoader)
    triggers = workflow["on"]
    assert not {"pull_request_target", "workflow_run", "issue_comment", "issues"} & set(triggers)
    assert workflow["permissions"] == {"contents": "read"}, "whatever a job does not ask for"
    for job, step in steps(workflow):
        assert not re.search(r"\$\{\{", step.get("run", "")), "values come by variables, which no shell parses"
        rights = {**workflow["permissions"], **job.get("permissions", {})}
        if "pull_request" not in triggers:
            continue
        assert "secrets." not in str(step) + str(job.get("env"))
        executes = any("checkout" in s.get("uses", "") for s in job["steps"])
        assert not executes or "write" not in rights.values(), "code of a pull request beside a right to write"
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] == "false"


def test_secrets_are_for_one_step() -> None:
    """Of the job that asks models: not for the steps that install."""
    for path in WORKFLOWS:
        workflow = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
        assert "secrets." not in str(workflow.get("env"))
        holders = [step for _, step in steps(workflow) if "secrets." in str(step)]
        assert all(step["run"].startswith("cli run ") for step in holders)
