"""The run that does what a request asks: one that is there, or a new one."""

from __future__ import annotations

from convex_evals.errors import UserError
from convex_evals.records.grading_inputs import grade_name
from convex_evals.runs.judging import Judge
from convex_evals.runs.plan import RunRequest, make_plan, refuse_other_work
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.summary import given_up, summarize


async def open_run(request: RunRequest, judge: Judge, store: RunStore, *, fresh: bool, retry_unscored: bool) -> Run:
    """The run that does what `request` asks: one that is there, or a new one.

    Raises `UserError` where the run that it names is there and is another.
    """
    plan = (await make_plan(request, judge)).model_copy(update={"fresh": fresh})
    named = request.planned or (_opened(request, store) if request.named else None)
    if named:
        refuse_other_work(named, plan)
        if retry_unscored:
            _refuse_retry(named)
        return named
    place = request.within or store
    if fresh or request.named:
        return place.create(plan)
    for run in place.same_work(plan):
        if plan.suite_commit and run.plan.suite_commit is None:
            continue  # a draft, never ranked; the new run takes its replies and verdicts, and counts
        summary = run.summary()
        if summary is not None and not summary.missing:
            again = summary.counts.unscored and (retry_unscored or not given_up(run, summary))
            return place.create(plan) if again else run
        # An incomplete run is resumed only with the toolchain that it was graded with.
        if run.plan.toolchain == plan.toolchain:
            return run
    return place.create(plan)


def _opened(request: RunRequest, store: RunStore) -> Run | None:
    if request.within:
        return request.within.opened(request.run_id)
    return store.opened(request.solver.model, request.date, request.run_id)


def _refuse_retry(run: Run) -> None:
    summary = run.summary()
    if summary is not None and not summary.missing and summary.counts.unscored:
        raise UserError(
            f"{run.folder}: is complete, so --retry-unscored makes another run; `cli status {run.plan.run_id}` says how"
        )


def count_by_own_keys(run: Run) -> None:
    """Undo a regrading: a resumed run has today's keys, whatever its summary was made to name before."""
    summary = run.summary()
    own = {e: grade_name(planned.grading_key) for e, planned in run.plan.evals.items()}
    if summary is not None and any(found.grade != own.get(e) for e, found in summary.evals.items()):
        run.write_summary(summarize(run, counting=own))
