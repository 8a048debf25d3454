"""validate-guidelines.yml as it stands: two rounds, each asked and graded by different jobs, and a verdict in Git."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convex_evals.store.runs import RunStore
from convex_evals.store.validations import validations
from tests.conftest import ROOT
from tests.end_to_end.repositories import git
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import Provider, serve
from tests.workflows.gh import Issues, shim
from tests.workflows.hub import Event, Hub, hosting
from tests.workflows.runner import WorkflowRun, run_workflow
from tests.workflows.test_ask_and_grade import ASKING, SECRETS, models

pytestmark = [
    pytest.mark.full,
    pytest.mark.grading,
    pytest.mark.usefixtures("toolchain"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

GRADER = """import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
test("the word is right", () => {
  expect(readFileSync(`${process.env.MODEL_OUTPUT_DIR}/word.ts`, "utf8")).toContain("right");
});
"""
REPLY = "# Files\n\n## package.json\n\n```json\n{}\n```\n\n## word.ts\n\n```ts\nexport const word = 'right';\n```\n"
GUIDELINES = "# Rules\n\n- Be brief.\n"
LABEL = "validate-guidelines"


def answer(body: dict[str, Any]) -> str:
    """The change mends one of two evals."""
    text = json.dumps(body["messages"])
    return REPLY if "Task 1." in text or "mended" in text else "There is nothing to write.\n"


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(answer=answer)) as provider:
        yield provider


@pytest.fixture
def clone(tmp_path: Path, stub: Provider) -> Path:
    folder = tmp_path / "clone"
    for i in range(2):
        task = {"TASK.txt": f"Task {i}.\n", "eval.yaml": "pipeline: static\n", "grader.test.ts": GRADER}
        make_eval(folder, f"000-first/00{i}-eval", task)
    files = {
        "models.yaml": models(stub.url),
        "guidelines/convex.md": GUIDELINES,
        ".gitignore": ".cache/\n",
        ".gitattributes": "runs/** -text\n",
    }
    return make_git_repo(write_files(folder, files))


@pytest.fixture
def hub(tmp_path: Path, clone: Path, stub: Provider) -> Iterator[Hub]:
    variables = {"VALIDATION_MODELS": "stub/one", "VALIDATION_BUDGET": "20"}
    folder = tmp_path / "hub"
    with hosting(folder, clone, secrets=SECRETS, vars=variables, shims={"gh": shim(folder)}) as hub:
        hub.machine["CONVEX_EVALS_SERVERS"] = stub.url
        write_files(clone, {"guidelines/convex.md": GUIDELINES.replace("brief", "brief: mended")})
        git(clone, "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-qam", "Mend a rule")
        yield hub


def validate(hub: Hub, event: Event) -> WorkflowRun:
    return run_workflow(hub, ROOT / ".github" / "workflows" / "validate-guidelines.yml", event)


def test_a_label_has_the_change_validated(hub: Hub, clone: Path, stub: Provider, tmp_path: Path) -> None:
    event = hub.pull_request(clone, action="labeled", label=LABEL, labels=(LABEL,))
    run = validate(hub, event)
    assert run.result == "success", run.report()
    # 2 evals, 2 sides, 3 trials; then 1 eval that flipped, 2 sides, 10 rounds.
    assert len(stub.requests) == 2 * 2 * 3 + 2 * 10
    git(tmp_path, "clone", "-q", "-b", "change", str(hub.repository), "looked at")
    [found] = validations(RunStore(tmp_path / "looked at" / "runs"))
    record = found.read()
    assert record is not None and record.verdict.words == "improved", record
    assert "stub/one" in run.summary
    for path, secrets in (("ask", {ASKING}), ("grade", set())):
        for round_ in ("screen", "confirm"):
            assert run.job(f"{round_}/{path}").secrets == secrets
            assert run.job(f"{round_}/{path}").rights == {"contents": "read"}
    assert run.job("deliver").secrets == {"GITHUB_TOKEN"}
    assert run.job("comment/comment").rights == {"pull-requests": "write"}
    [comment] = Issues(hub.folder).on(1)
    assert comment.startswith("<!-- convex-evals: guidelines -->") and "improved" in comment


def test_another_label_or_a_fork_starts_nothing(hub: Hub, clone: Path, stub: Provider) -> None:
    assert not validate(hub, hub.pull_request(clone, action="labeled", label="other")).attempt.records
    fork = hub.pull_request(clone, action="labeled", label=LABEL, fork=True)
    assert not validate(hub, fork).attempt.records and not stub.requests
