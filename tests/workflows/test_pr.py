"""pr.yml as it stands, on pull requests to a repository that `cli init` made: what it comments, and what it grades."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.records.hashes import sha256_text
from convex_evals.stats import EvalPair
from convex_evals.store.paths import slug_folders
from convex_evals.store.validations import ValidationFolder
from convex_evals.suite.prompt import guidelines_sha256 as digest
from convex_evals.suite.starter import lay_out
from convex_evals.text import JOINER
from tests.conftest import ROOT
from tests.end_to_end.repositories import git
from tests.factories import make_git_repo, make_validation, write_files
from tests.workflows.gh import BOT, Issues, shim
from tests.workflows.hub import Hub, hosting
from tests.workflows.interruption import Interruption
from tests.workflows.runner import WorkflowRun, run_workflow

pytestmark = [
    pytest.mark.full,
    pytest.mark.grading,
    pytest.mark.usefixtures("toolchain"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

OURS = ROOT / ".github" / "workflows" / "pr.yml"
EVAL = "000-fundamentals/000-greeting"
MARKER = "<!-- convex-evals: guidelines -->\n"
# The fast tests are not run within the tests: what is in the file is the README's command.
PYTHON = '#!/bin/sh\necho "== pytest: ok in 9 s"\necho "something else"\necho "All checks passed."\n'
IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A new repository, with a branch checked out that a pull request is to be made of."""
    folder = tmp_path / "clone"
    lay_out(folder)
    make_git_repo(folder)
    git(folder, "checkout", "-q", "-b", "change")
    return folder


@pytest.fixture
def hub(tmp_path: Path, clone: Path) -> Iterator[Hub]:
    folder = tmp_path / "hub"
    shims = {"python": PYTHON, "gh": shim(folder)}
    with hosting(folder, clone, secrets={"OPENAI_API_KEY": "planted-key-0123456789"}, shims=shims) as hub:
        yield hub


def commit(clone: Path, **files: str) -> None:
    write_files(clone, files)
    git(clone, "add", "-A")
    git(clone, *IDENTITY, "commit", "-q", "-m", "Change")


def edit(clone: Path, old: str, new: str) -> None:
    """A change of the guidelines."""
    path = clone / "guidelines" / "convex.md"
    assert old in path.read_text()
    commit(clone, **{"guidelines/convex.md": path.read_text().replace(old, new)})


def start(hub: Hub, clone: Path, *, fork: bool = False, path: Path = OURS) -> WorkflowRun:
    return run_workflow(hub, path, hub.pull_request(clone, 7, fork=fork))


def comments(hub: Hub) -> list[str]:
    return Issues(hub.folder).on(7)


def discuss(hub: Hub, *bodies: str, login: str = "somebody") -> None:
    issues = Issues(hub.folder)
    for body in bodies:
        issues.comment(7, body, login)
    issues.save()


def test_a_change_is_commented_once_and_the_comment_replaced(hub: Hub, clone: Path) -> None:
    edit(clone, "the task wins", "the task is right")
    run = start(hub, clone)
    assert run.result == "success", run.report()
    (first,) = comments(hub)
    assert first.startswith(f"{MARKER}### Guidelines: no model has runs with both versions")
    assert "Pages: [guidelines](https://acme.github.io/evals/guidelines.html) · " in first
    assert "<del>wins</del> <ins><b>is right</b></ins>" in first
    assert first.removeprefix(MARKER) in run.summary
    # Others quote the marker, and the bot of another workflow comments, too.
    discuss(hub, *[f"Remark {n}." for n in range(120)], f"{MARKER}I am not it.")
    discuss(hub, "Another workflow's.", f"About {MARKER}", login=BOT)
    before = comments(hub)
    edit(clone, "the task is right", "the task is always right")
    hub.vars["PAGES_URL"] = "https://example.org/evals"
    run = start(hub, clone)
    assert run.result == "success", run.report()
    after = comments(hub)
    assert after[1:] == before[1:] and after[0] != first
    assert "is always right" in after[0] and "(https://example.org/evals/compare.html)" in after[0]
    edit(clone, "the task is always right", "the task wins")
    assert start(hub, clone).result == "success"
    assert comments(hub) == [f"{MARKER}This pull request does not change the guidelines.\n", *before[1:]]


def test_who_executes_and_who_writes(hub: Hub, clone: Path) -> None:
    edit(clone, "the task wins", "the task is right")
    run = start(hub, clone)
    jobs = {path: run.job(path) for path in ("check", "validate", "guidelines/diff", "guidelines/comment")}
    comment = jobs.pop("guidelines/comment")
    assert comment.rights == {"pull-requests": "write"} and comment.secrets == {"GITHUB_TOKEN"}
    assert sorted(p.name for p in comment.workspace.iterdir()) == ["body.md", "comment.md"], "nothing is checked out"
    for job in jobs.values():
        assert job.rights == {"contents": "read"} and not job.secrets
        assert "extraheader" not in (job.workspace / ".git" / "config").read_text()
    assert "planted-key" not in run.report()


def test_without_a_change_there_is_no_comment(hub: Hub, clone: Path) -> None:
    commit(clone, **{"README.md": "New.\n"})
    run = start(hub, clone)
    assert run.result == "success" and comments(hub) == []
    assert run.job("guidelines/diff").step("diff").outcome == "skipped"
    assert "This pull request does not change the guidelines." in run.summary
    assert "No eval was changed since origin/main." in run.summary
    assert "    == pytest: ok in 9 s\n    All checks passed.\n" in run.summary and "something else" not in run.summary


def test_a_fork_gets_the_summary_alone(hub: Hub, clone: Path) -> None:
    edit(clone, "the task wins", "the task is right")
    run = start(hub, clone, fork=True)
    assert run.result == "success", run.report()
    assert comments(hub) == [] and run.jobs("guidelines/comment") == []
    assert "### Guidelines: no model has runs" in run.summary
    assert "https://acme.github.io/evals/" in run.summary, "without the variables of the repository"


def test_a_stored_verdict_is_in_the_comment(hub: Hub, clone: Path) -> None:
    before = (clone / "guidelines" / "convex.md").read_text()
    after = before.replace("the task wins", "the task is right")
    prompt = sha256_text((clone / "guidelines" / "prompt.j2").read_text())
    sides = {
        name: {"guidelines": "guidelines/convex.md", "prompt_sha256": prompt, "guidelines_sha256": digest(text)}
        for name, text in (("before", before), ("after", after))
    }
    screen, again = EvalPair(EVAL, 0, 3, 3, 3), EvalPair(EVAL, 0, 10, 10, 10)
    found = make_validation([screen], [again], **sides)
    folder = clone.joinpath("runs", *slug_folders(found.model), "2026-01-31", "validation-0123456789ab")
    ValidationFolder(folder, clone / "runs").write(found)
    commit(clone, **{"guidelines/convex.md": after})
    assert start(hub, clone).result == "success"
    (comment,) = comments(hub)
    assert "validated: " in comment.splitlines()[1]
    assert "#### Confirmed by new trials (`cli validate-guidelines`)" in comment
    assert "acme/model-1: improved" in comment.replace(JOINER, "")


def test_a_failed_comparison_leaves_the_comment_as_it_was(hub: Hub, clone: Path) -> None:
    edit(clone, "the task wins", "the task is right")
    start(hub, clone)
    before = comments(hub)
    commit(clone, **{"convex-evals.yaml": "nonsense: 1\n"})
    run = start(hub, clone)
    assert run.job("guidelines/diff").result == "failure" and run.jobs("guidelines/comment") == []
    assert run.result == "failure" and comments(hub) == before


def test_a_pull_request_that_is_run_again_comments_once(hub: Hub, clone: Path) -> None:
    edit(clone, "the task wins", "the task is right")
    lost = Interruption("guidelines/comment", "comment", lambda workspace: (workspace / "body.md").exists())
    run = run_workflow(hub, OURS, hub.pull_request(clone, 7), interruption=lost)
    assert run.job("guidelines/comment").result == "failure"
    again = run.rerun_failed()
    assert again.result == "success" and len(comments(hub)) == 1
    assert again.job("guidelines/diff") is run.job("guidelines/diff")


def test_the_evals_that_are_touched_are_validated(hub: Hub, clone: Path) -> None:
    other = "000-fundamentals/001-other"
    shutil.copytree(clone / "evals" / EVAL, clone / "evals" / other)
    git(clone, "checkout", "-q", "main")
    commit(clone, **{"README.md": "Two evals.\n"})
    hub.push(clone)
    git(clone, "checkout", "-q", "-B", "change")
    commit(
        clone, **{f"evals/{other}/TASK.txt": (clone / "evals" / other / "TASK.txt").read_text() + "\nThat is all.\n"}
    )
    run = start(hub, clone)
    assert run.result == "success", run.report()
    assert f"`{other}`" in run.job("validate").summary and EVAL not in run.job("validate").summary
    right = (clone / "evals" / other / "answer" / "convex" / "greetings.ts").read_text()
    wrong = f"evals/{other}/wrong/not-at-all"
    commit(clone, **{f"{wrong}/convex/greetings.ts": right, f"{wrong}/reason.txt": "Nothing.\ncaught by: tests\n"})
    run = start(hub, clone)
    assert run.results == {"check": "success", "validate": "failure", "guidelines": "success"}
    assert run.job("validate").step("validate").code == 4
    assert f"off: {other} wrong/not-at-all: must not pass, and did" in run.job("validate").summary.replace("\\", "")


def test_a_new_repository_comments_the_same(hub: Hub, clone: Path) -> None:
    """By its own workflows, which `cli init` made."""
    edit(clone, "the task wins", "the task is right")
    run = start(hub, clone, path=clone / ".github" / "workflows" / "pr.yml")
    assert run.results == {"validate": "success", "guidelines": "success"}, run.report()
    (comment,) = comments(hub)
    assert comment.startswith(f"{MARKER}### Guidelines: no model has runs with both versions")
