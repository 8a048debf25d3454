"""Which trials an export has, and what was asked: as it was when the run was made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from convex_evals.config import open_workspace
from convex_evals.errors import UserError
from convex_evals.exports.writing import choose, notes
from convex_evals.records import Outcome
from convex_evals.suite.asked import AskedEval, AskedReader
from convex_evals.vcs.git import clean_commit
from tests.exports.runs import FIRST, OUTCOMES, SECOND, exported, make_suite, run_of
from tests.factories import grade_again, make_git_repo


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.org", *words], cwd=folder, check=True)


def chosen(suite: Path, *names: str, patterns: tuple[str, ...] = (), outcomes: tuple[str, ...] = ()) -> list[str]:
    runs = choose(names, open_workspace(suite, None, suite), patterns, outcomes)
    return [f"{t.plan.run_id} {t.name} {t.verdict.outcome}" for run in runs for t in run.trials()]


def test_each_trial_once_in_a_fixed_order(tmp_path: Path) -> None:
    make_suite(tmp_path, run_id="one")
    run_of(tmp_path, {FIRST: "p"}, run_id="two", model="acme/a")
    found = chosen(tmp_path, "last", "one", "acme/model-1", "date=2026-01", "two")
    assert found == [
        f"two {FIRST} passed",
        *(f"one {FIRST} #{n} {outcome}" for n, outcome in enumerate(("passed", "failed", "unscored"), 1)),
        *(f"one {SECOND} #{n} {outcome}" for n, outcome in enumerate(("passed", "passed", "failed"), 1)),
    ]


def test_conditions(tmp_path: Path) -> None:
    make_suite(tmp_path, run_id="one")
    assert chosen(tmp_path, "one", patterns=("queries",), outcomes=("failed",)) == [f"one {SECOND} #3 failed"]
    assert len(chosen(tmp_path, "one", outcomes=("passed", "unscored"))) == 4
    of_second = chosen(tmp_path, "one", patterns=(SECOND,))
    assert chosen(tmp_path, "one", patterns=(f"!{FIRST}",)) == of_second
    assert chosen(tmp_path, "one", patterns=(FIRST, SECOND, f"!{FIRST}")) == of_second
    runs = choose(["one"], open_workspace(tmp_path, None, tmp_path), ["queries"], ["unscored"])
    assert notes(runs) == ["no trial is exported: none has such an outcome"]


def test_what_is_not_done_is_named(tmp_path: Path) -> None:
    make_suite(tmp_path)
    run = run_of(tmp_path, {FIRST: "pp", SECOND: ""}, run_id="begun", complete=False)
    assert notes(exported(tmp_path, run)) == ["left out 1 eval: not done yet"]
    with pytest.raises(UserError, match="begun: no eval is done yet; `cli run --run begun` resumes it"):
        chosen(tmp_path, "begun", patterns=(SECOND,))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", r"-f '\(': not a regular expression"),
        ("zzz", "no eval of these runs matches -f 'zzz'; `cli show one` lists"),
    ],
)
def test_a_pattern_that_matches_nothing(pattern: str, message: str, tmp_path: Path) -> None:
    make_suite(tmp_path, run_id="one")
    with pytest.raises(UserError, match=message):
        chosen(tmp_path, "one", patterns=(pattern,))


def test_verdicts_are_those_that_count(tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    grade_again(run, "e" * 64, flip=True)
    (found,) = exported(tmp_path, run)
    assert {t.verdict.outcome for t in found.trials()} == {Outcome.PASSED}
    assert {t.graded.grading_key for t in found.trials()} == {"e" * 64}


def test_tasks_and_answers_are_the_runs_own(tmp_path: Path) -> None:
    """From the suite while it is the same; after that, from the commit that the run names."""
    make_suite(tmp_path)
    make_git_repo(tmp_path)
    (folder,) = (tmp_path / "evals" / FIRST,)
    task, answer = (folder / "TASK.txt").read_text(), (folder / "answer/convex/main.ts").read_text()
    run = run_of(tmp_path, run_id="two", suite_commit=clean_commit(tmp_path))
    plan = run.plan.evals[FIRST]

    def read() -> AskedEval:
        return AskedReader(tmp_path).read(run, FIRST)

    before = read()
    assert (before.task, before.expected and before.expected["convex/main.ts"]) == (task, answer)
    (folder / "TASK.txt").write_text("Another task.\n")
    assert read() == before
    git(tmp_path, "rm", "-rqf", f"evals/{FIRST}")
    git(tmp_path, "commit", "-qm", "Remove it")
    assert read() == before
    unknown = run.plan.model_copy(update={"suite_commit": "1" * 40, "evals": {FIRST: plan}})
    assert AskedReader(tmp_path).read(type(run)(run.folder, unknown), FIRST) == AskedEval()


def test_what_changed_since_a_run_without_a_commit_is_not_shown(tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    (tmp_path / "evals" / FIRST / "TASK.txt").write_text("Another task.\n")
    found = AskedReader(tmp_path).read(run, FIRST)
    assert found.task is None and found.expected is not None
    assert AskedReader(tmp_path).read(run, SECOND).task is not None


def test_a_commit_of_another_task_is_not_taken(tmp_path: Path) -> None:
    """The hash decides, not the commit."""
    make_suite(tmp_path)
    make_git_repo(tmp_path)
    commit = clean_commit(tmp_path)
    (tmp_path / "evals" / FIRST / "TASK.txt").write_text("What was asked, and never committed.\n")
    run = run_of(tmp_path, run_id="two", suite_commit=commit)
    (tmp_path / "evals" / FIRST / "TASK.txt").write_text("Another task.\n")
    assert AskedReader(tmp_path).read(run, FIRST).task is None
    assert len(OUTCOMES) == 2
