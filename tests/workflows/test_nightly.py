"""nightly.yml as it stands: one issue while graders do not tell right from wrong, closed when they do again."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.suite.starter import lay_out
from tests.conftest import ROOT
from tests.end_to_end.repositories import git
from tests.factories import make_git_repo, write_files
from tests.workflows.gh import Issues, shim
from tests.workflows.hub import Event, Hub, hosting
from tests.workflows.interruption import Interruption
from tests.workflows.runner import WorkflowRun, run_workflow

pytestmark = [
    pytest.mark.full,
    pytest.mark.grading,
    pytest.mark.usefixtures("toolchain"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

OURS = ROOT / ".github" / "workflows" / "nightly.yml"
EVAL = "000-fundamentals/000-greeting"
MARKER = "<!-- convex-evals: nightly -->\n"
REASON = f"evals/{EVAL}/wrong/greets-nobody/reason.txt"
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    lay_out(folder)
    return make_git_repo(folder)


@pytest.fixture
def hub(tmp_path: Path, clone: Path) -> Iterator[Hub]:
    folder = tmp_path / "hub"
    with hosting(folder, clone, shims={"gh": shim(folder)}) as hub:
        yield hub


def commit(hub: Hub, clone: Path, **files: str) -> None:
    write_files(clone, files)
    git(clone, *IDENTITY, "commit", "-q", "-a", "-m", "Change")
    hub.push(clone)


def tonight(hub: Hub, event: Event | None = None, path: Path = OURS) -> WorkflowRun:
    return run_workflow(hub, path, event or hub.scheduled("30 4 * * *"))


def test_one_issue_from_the_first_failure_until_it_passes_again(hub: Hub, clone: Path) -> None:
    run = tonight(hub)
    assert run.results == {"validate": "success", "issue": "success"}, run.report()
    assert Issues(hub.folder).issues == []
    assert f"`{EVAL}`" in run.summary and "All verdicts are as expected." in run.summary
    validation = json.loads((hub.artifacts(run.attempt.run_id).folder / "validation" / "validation.json").read_text())
    assert validation["clean"] and {p["repeat"] for p in validation["projects"]} == {1, 2}
    # Somebody uses the label for something else.
    issues = Issues(hub.folder)
    issues.labels.append("nightly")
    issues.issues.append({"number": 1, "title": "x", "body": "About nights.", "labels": ["nightly"], "state": "open"})
    issues.save()

    right = (clone / REASON).read_text()
    commit(hub, clone, **{REASON: right.replace("caught by: tests", "caught by: tsc")})
    run = tonight(hub)
    assert run.results == {"validate": "failure", "issue": "success"} and run.result == "failure"
    first = Issues(hub.folder).issues[1]
    assert first["title"] == "Graders do not tell right from wrong" and first["labels"] == ["nightly"]
    assert first["body"].startswith(MARKER) and f"/acme/evals/actions/runs/{run.attempt.run_id})" in first["body"]
    assert "caught by tests, not by tsc" in first["body"]
    assert "https://github.com/acme/evals/issues/2" in run.job("issue").summary

    again = tonight(hub)
    _, second = Issues(hub.folder).issues
    assert second["state"] == "open" and f"/actions/runs/{again.attempt.run_id})" in second["body"]
    assert Issues(hub.folder).on(2) == [], "the text is replaced, and nobody notified each night"

    commit(hub, clone, **{REASON: right})
    passed = tonight(hub, hub.pushed())
    assert passed.result == "success"
    assert [issue["state"] for issue in Issues(hub.folder).issues] == ["open", "closed"]
    (farewell,) = Issues(hub.folder).on(2)
    assert farewell.startswith("All graders tell right from wrong again: ")
    before = (hub.folder / "issues.json").read_text()
    assert tonight(hub).result == "success" and (hub.folder / "issues.json").read_text() == before


def test_who_executes_and_who_writes(hub: Hub, clone: Path) -> None:
    commit(hub, clone, **{"convex-evals.yaml": "nonsense: 1\n"})
    run = tonight(hub)
    validate, issue = run.job("validate"), run.job("issue")
    assert validate.rights == {"contents": "read"} and not validate.secrets
    assert issue.rights == {"issues": "write"} and issue.secrets == {"GITHUB_TOKEN"}
    assert sorted(p.name for p in issue.workspace.iterdir()) == ["body.md", "summary.md", "validation.json"]
    # It could not even begin: an issue all the same.
    (found,) = Issues(hub.folder).open()
    assert "The graders were not tried on all projects: see the log." in found["body"]
    assert "The graders were not tried on all projects" in run.summary


def test_a_lost_machine_opens_an_issue(hub: Hub) -> None:
    lost = Interruption("validate", "validate", lambda workspace: (workspace / "validation.json").exists())
    run = run_workflow(hub, OURS, hub.scheduled(), interruption=lost)
    assert run.results == {"validate": "failure", "issue": "success"}
    (found,) = Issues(hub.folder).open()
    assert found["body"].startswith(MARKER) and "in [the newest run](" in found["body"]
    again = run.rerun_failed()
    assert again.result == "success" and Issues(hub.folder).open() == []


def test_a_cancelled_run_says_nothing(hub: Hub) -> None:
    cancelled = Interruption("validate", "validate", lost=False)
    run = run_workflow(hub, OURS, hub.scheduled(), interruption=cancelled)
    assert run.results == {"validate": "cancelled", "issue": "cancelled"} and not Issues(hub.folder).issues


def test_a_branch_that_is_tried_by_hand_opens_no_issue(hub: Hub, clone: Path) -> None:
    git(clone, "checkout", "-q", "-b", "attempt")
    write_files(clone, {"convex-evals.yaml": "nonsense: 1\n"})
    git(clone, *IDENTITY, "commit", "-q", "-a", "-m", "Change")
    hub.push(clone, branch="attempt")
    run = tonight(hub, hub.dispatched("attempt"))
    assert run.results == {"validate": "failure", "issue": "skipped"} and not Issues(hub.folder).issues
