"""What runs on a pull request reaches no secret, and what others named is never a part of a script."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from convex_evals.models.catalog import shipped_models
from convex_evals.models.keys import KEYS
from convex_evals.suite.starter import FILES
from tests.conftest import ROOT

OURS = ROOT / ".github" / "workflows"
STARTER = FILES / "dot-github" / "workflows"
WORKFLOWS = sorted([*OURS.glob("*.yml"), *STARTER.glob("*.yml")])


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


@pytest.mark.parametrize("path", sorted(OURS.glob("*.yml")), ids=lambda path: path.stem)
def test_what_is_installed_beside_a_right_to_write_has_a_hash(path: Path) -> None:
    """The build backend included: by itself, pip fetches whichever version is newest."""
    workflow = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
    for job, step in steps(workflow):
        rights = {**workflow["permissions"], **job.get("permissions", {})}
        for command in re.findall(r"pip install [^&|;\n]+", step.get("run", "")) if "write" in rights.values() else ():
            words = set(command.split())
            assert "--require-hashes" in words or words >= {"--no-deps", "--no-build-isolation"}, command


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.parts[-4] + " " + path.stem)
def test_a_token_stays_in_the_checkout_only_to_push(path: Path) -> None:
    for job, step in steps(yaml.load(path.read_text(), Loader=yaml.BaseLoader)):
        if "checkout" in step.get("uses", ""):
            pushes = any(" --push" in other.get("run", "") for other in job["steps"])
            assert pushes or step["with"]["persist-credentials"] == "false"


def test_the_lock_has_what_builds_this_package() -> None:
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    lock = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(lock.get(requirement.name, "0")), f"{requirement}: see CONTRIBUTING.md"
    assert "editables" in lock, "for `pip install -e .`"


def test_secrets_are_for_one_step() -> None:
    """Of the jobs that ask models and that deploy: not for the steps that install."""
    for path in WORKFLOWS:
        workflow = yaml.load(path.read_text(), Loader=yaml.BaseLoader)
        assert "secrets." not in str(workflow.get("env"))
        holders = [step for _, step in steps(workflow) if "secrets." in str(step)]
        assert all(step["run"].startswith(("cli run ", "npx convex ")) for step in holders)


def test_models_are_asked_with_every_key_that_ships() -> None:
    text = (OURS / "models.yml").read_text()
    wanted = {KEYS[entry.provider][0] for entry in shipped_models()}
    assert set(re.findall(r"secrets\.(\w+)", text)) == wanted
    assert all(f"{name}: ${{{{ secrets.{name} }}}}" in text for name in wanted)


@pytest.mark.parametrize("name", ["guidelines.yml", "models.yml", "validate.yml"])
def test_a_new_repository_gets_the_same_workflows(name: str) -> None:
    """But for what is installed: the tool, of a version that requirements.txt names, and not this checkout."""
    install = re.compile(r"pip install (--require-hashes .* -e \.|-e \.|-r requirements\.txt)$", re.MULTILINE)
    ours, theirs = (install.sub("INSTALL", (folder / name).read_text()) for folder in (OURS, STARTER))
    assert theirs == ours.replace('"convex_evals/**"', '"requirements.txt"') and "INSTALL" in theirs
