"""What a command goes on with, counts and reports, without a grading service: runs are made up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from convex_evals.config import open_workspace
from convex_evals.errors import UserError
from convex_evals.grading.service import GradingService
from convex_evals.models.reference import ReferenceSolver
from convex_evals.records import Outcome, RunPlan, Summary
from convex_evals.records.generation import MISSING
from convex_evals.records.grading_inputs import grade_name
from convex_evals.records.journal import JournalEntry
from convex_evals.render.plain import plain
from convex_evals.render.terminal import Display
from convex_evals.runs import execute as work
from convex_evals.runs import opening
from convex_evals.runs.delivery import message
from convex_evals.runs.execute import Work
from convex_evals.runs.finalize import finish_run
from convex_evals.runs.finished import Finished
from convex_evals.runs.judging import Judge
from convex_evals.runs.opening import open_run
from convex_evals.runs.outcome import run_section
from convex_evals.runs.plan import RunRequest
from convex_evals.store.journal import Journal
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.summary import given_up, summarize
from convex_evals.suite.suite import load_suite
from tests.factories import make_asked, make_eval, make_generation, make_grade_file, make_run, make_verdict

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


def do(suite: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> tuple[Work, Finished]:
    """What `Work` does once it has found `run`."""

    async def opened(*_: object, **__: object) -> Run:
        return run

    async def both(at: Work) -> Finished:
        service = cast(GradingService, object())
        assert await at._open(request, service) == run
        return await at._one(request, run, service)

    monkeypatch.setattr(work, "open_run", opened)
    plan, evals = run.plan, load_suite(suite).evals
    request = RunRequest(ReferenceSolver(), evals, {}, plan.trials, make_asked(), plan.run_id, plan.date, None)
    with Display() as display:
        at = Work(open_workspace(suite, None, suite), RunStore(suite / "runs"), display)
        found = asyncio.run(both(at))
    return at, found


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
    _, found = do(suite, run, monkeypatch)
    assert found.summary == before == summary_of(run) and found.totals.counts.passed == 1


def test_one_trial_without_a_verdict_leaves_a_table(suite: Path) -> None:
    run = make_run(suite / "runs", {EVAL: "p", "001-more/000-later": ""}, complete=False)
    journal = Journal(suite / "journal", run.plan)
    lost = make_generation().model_copy(update={"received": False, "fault": "server_error"})
    journal.write(
        "001-more/000-later", JournalEntry(generation=lost, response=None, verdict=make_verdict(Outcome.UNSCORED))
    )
    found = Finished(run, None, (EVAL,), journal.of_unwritten(run))
    report = plain(run_section(run, None, found.so_far))
    assert found.so_far.missing == ("001-more/000-later",) and "run the same command again" in report
    assert "unscored in 001-more: 1 x server_error" in report
    assert [line.split()[:4] for line in report.splitlines() if line.startswith("all ")] == [["all", "1", "0", "1"]]


def test_a_reply_that_nobody_recorded_is_missing_at_once(suite: Path) -> None:
    lost = make_generation().model_copy(update={"received": False, "fault": MISSING})
    entry = JournalEntry(generation=lost, response=None, verdict=make_verdict(Outcome.UNSCORED), commands=1)
    assert entry.done and not entry.model_copy(update={"verdict": None}).done
    run = make_run(suite / "runs", {EVAL: "u"})
    assert not given_up(run, summary_of(run))
    file = run.generation(EVAL)
    run.write_eval(file.model_copy(update={"trials": (lost,)}), {}, run.grade(EVAL))
    assert given_up(run, summary_of(run))


@pytest.mark.parametrize("fresh", [False, True])
def test_a_run_with_new_replies_goes_on_with_new_replies(
    fresh: bool, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run(suite / "runs", {EVAL: "p"}, complete=False, fresh=fresh)
    at, _ = do(suite, run, monkeypatch)
    assert (at.runners[0].earlier is None) == fresh
    assert run.plan.fingerprint_inputs() == make_run(suite / "other", {EVAL: "p"}).plan.fingerprint_inputs()


def test_open_run_says_what_it_cannot_do(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(suite / "runs", {EVAL: "u"})

    async def planned(*_: object) -> RunPlan:
        return run.plan.model_copy(update={"run_id": "other"})

    monkeypatch.setattr(opening, "make_plan", planned)
    request = RunRequest(ReferenceSolver(), [], {}, 1, make_asked(), "x", "2026-01-01", None, planned=run)

    def opened(request: RunRequest, **options: bool) -> Run:
        store = RunStore(suite / "runs")
        return asyncio.run(open_run(request, cast(Judge, None), store, **{"fresh": False, **options}))

    assert opened(request, retry_unscored=False) == run
    with pytest.raises(UserError, match="is complete, so --retry-unscored makes another run; `cli status default-0"):
        opened(request, retry_unscored=True)
    anew = opened(replace(request, planned=None), fresh=True, retry_unscored=False)
    assert anew.plan.fresh and anew.plan.run_id == "other" and not run.plan.fresh
