"""What a command goes on with, counts and reports, without a grader: runs are made up."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest

from convex_evals import work
from convex_evals.config import open_workspace
from convex_evals.delivery import message
from convex_evals.display import Display
from convex_evals.finish import finish_run
from convex_evals.generate.reference import ReferenceAnswerer
from convex_evals.grade.grader import Grader
from convex_evals.plan import Request
from convex_evals.records import Outcome, Summary
from convex_evals.store.runs import Run, RunStore, grade_name
from convex_evals.suite import load_suite
from convex_evals.summary import summarize
from convex_evals.work import Finished, Work
from tests.factories import make_eval, make_grade_file, make_run, make_verdict

EVAL = "000-fundamentals/000-answer"
REGRADED = "9" * 64


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    make_eval(tmp_path)
    return tmp_path


def regrade(run: Run) -> None:
    """Have the only trial fail, by graders that are not the plan's."""
    failed = make_grade_file(verdict=make_verdict(Outcome.FAILED)).model_copy(update={"grading_key": REGRADED})
    run.write_grade(failed)
    run.write_summary(summarize(run, counting={EVAL: grade_name(REGRADED)}))


def summary_of(run: Run) -> Summary:
    found = run.summary()
    assert found is not None
    return found


def do(suite: Path, run: Run, monkeypatch: pytest.MonkeyPatch, **options: bool) -> Finished:
    """What `Work` does once it has found `run`."""

    async def found(*_: object, **__: object) -> Run:
        return run

    monkeypatch.setattr(work, "open_run", found)
    plan, evals = run.plan, load_suite(suite).evals
    request = Request(ReferenceAnswerer(), evals, {}, plan.trials, "default", None, None, plan.run_id, plan.date, None)
    with Display() as display:
        at = Work(open_workspace(suite, None, suite), RunStore(suite / "runs"), display, **options)
        return asyncio.run(at._one(request, cast(Grader, None)))


def test_what_a_regrading_made_count_counts_everywhere(suite: Path) -> None:
    run = make_run(suite / "runs", {EVAL: "p"})
    regrade(run)
    before = summary_of(run)
    assert finish_run(run, suite / "journal") == before == summary_of(run) and before.counts.failed == 1
    assert "0/1 passed" in message([run], "add", None)
    assert Finished(run, before, (EVAL,)).totals.counts.failed == 1


def test_a_run_that_is_gone_on_with_counts_under_todays_keys(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(suite / "runs", {EVAL: "p"})
    before = summary_of(run)
    regrade(run)
    found = do(suite, run, monkeypatch)
    assert found.summary == before == summary_of(run) and found.totals.counts.passed == 1
