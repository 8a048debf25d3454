"""What came of a run, or of one shard of it, told at its end, and the command that resumes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from convex_evals.analysis.totals import category_table, unscored_lines
from convex_evals.records import ComparisonMethod, Counts, RunPlan, Summary
from convex_evals.records.generation import MISSING
from convex_evals.render.formats import DEFAULT
from convex_evals.render.model import Cell, Column, Row, Section, Table
from convex_evals.render.numbers import dollars, percent
from convex_evals.runs.finished import Finished
from convex_evals.runs.options import DEFAULT_EXPERIMENT, RunOptions, resume
from convex_evals.runs.stage import Stage
from convex_evals.runs.unfinished import resume_commands
from convex_evals.store.run import Run
from convex_evals.store.summary import given_up
from convex_evals.text import counted


def run_section(
    run: Run,
    summary: Summary | None,
    so_far: Summary | None = None,
    again: list[str] | None = None,
    *,
    pending: int = 0,
    alone: bool = True,
    whole: bool = False,
) -> Section:
    """The totals and where they are; `so_far` is what there is of a run without a summary, `again` more to say.
    `pending` trials wait for batches.

    Where the run is not `alone`, what resumes it is left to `closing_section`, and a single category to
    `overview_section`, unless the `whole` of it is asked for.
    """
    plan = run.plan
    known = summary or so_far
    parts = [f"{plan.model}  {plan.experiment}{'  (synthetic: no model was asked)' if plan.synthetic else ''}"]
    tables = [category_table(known)] if known and (alone or whole or len(known.categories) > 1) else []
    totals: list[str | Table] = (
        [*tables, *_similarity(plan, known), _spent(known), *unscored_lines(known)]
        if known and (summary or known.categories)
        else []
    )
    if summary is None:
        # The same command would start over with --fresh.
        how = f"`{resume(plan).command()}` resumes it" if plan.fresh else "run the same command again to resume"
        unscored = "Some trials could not be scored, or were not asked"
        unscored = f"{counted(pending, 'trial')} in batches that go on" if pending else unscored
        rest = [f"{unscored}; {how}." if alone else f"{unscored}.", f"How far it is: cli status {plan.run_id}"]
    else:
        rest = [*_missing(run, summary), *(again or [])]
    if known and known.elsewhere:
        rest.append(
            f"Asked at {', '.join(known.elsewhere)}, no server of {plan.model.partition('/')[0]}: never ranked; "
            "give the model a name of your own in models.yaml, or ask the provider itself with --fresh"
        )
    if summary and summary.counts.too_many_unscored and not plan.synthetic:
        rest.append(f"Not ranked: {summary.counts.unscored_share:.0%} of the trials have no verdict")
    return Section.of(*parts, *totals, *rest, *_where(run, known))


def _where(run: Run, known: Summary | None) -> list[str]:
    """Where the results are; of a run that has none, what says why."""
    show = f"cli show {run.plan.run_id}"
    if not known or not (known.evals or known.counts.unscored):
        return []
    if not known.counts.scored:
        return [f"See why: {show}"]
    return [f"Results: {run.folder}", f"Look at them: {show}"]


def asked_section(end: Finished) -> Section:
    """What came of a command that only asked for replies."""
    plan = end.run.plan
    left = end.trials - end.received - end.pending - sum(end.unreceived.values())
    cost = f"; {dollars(end.asked_cost_usd)}" if end.asked_cost_usd else ""
    return Section.of(
        f"{plan.model}  {plan.experiment}: replies to {end.received} of {counted(end.trials, 'trial')}{cost}",
        *(f"no reply: {n} x {why}" for why, n in end.unreceived.items()),
        f"In batches that go on: {counted(end.pending, 'trial')}." if end.pending else None,
        f"Not asked: {counted(left, 'trial')}; run the same command again to resume." if left else None,
        f"Grade them: {_grading(plan).command()}",
    )


def asked_data(end: Finished) -> dict[str, Any]:
    """The same for machines."""
    plan = end.run.plan
    return {
        "run_id": plan.run_id,
        "folder": str(end.run.folder),
        "model": plan.model,
        "experiment": plan.experiment,
        "trials": end.trials,
        "received": end.received,
        "unreceived": dict(end.unreceived),
        "pending": end.pending,
        "cost_usd": end.asked_cost_usd,
        "go_on": _grading(plan).command(),
    }


def _grading(plan: RunPlan) -> RunOptions:
    return replace(resume(plan), only=Stage.GRADE)


def without_reply(runs: Iterable[tuple[Run, int]]) -> Section:
    """What a command says that only graded, and found no reply to some trials."""
    return Section.of(
        *(
            f"Not graded: {counted(trials, 'trial')} without a reply; `{resume(run.plan).command()}` asks for them"
            for run, trials in runs
            if trials
        )
    )


def retry_command(run: Run, summary: Summary | None, options: RunOptions) -> str | None:
    """What asks again for trials of a complete run that have no verdict; `options` made the run."""
    if summary is None or summary.missing or not _waiting(summary):
        return None
    if options.runs or options.run_id:
        return f"cli status {run.plan.run_id}"  # which knows what means the same in another run
    return replace(options, fresh=False, retry_unscored=given_up(run, summary), form=DEFAULT).command()


def overview_section(ends: Sequence[Finished]) -> Section:
    """The pass rates of several runs: a row for each model, a column for each experiment."""
    experiments = list(dict.fromkeys(end.run.plan.experiment for end in ends))
    by_model: dict[str, dict[str, Counts]] = {}
    for end in ends:
        by_model.setdefault(end.run.plan.model, {})[end.run.plan.experiment] = end.so_far.counts
    columns = [Column("model", "model", is_id=True), *(Column(name, name, right=True) for name in experiments)]
    rows: list[Row] = [
        [model, *(_rate(found[name]) if name in found else None for name in experiments)]
        for model, found in by_model.items()
    ]
    return Section.of(Table.of(columns, rows), *_comparing(experiments))


def _rate(counts: Counts) -> Cell:
    unscored = f", {counts.unscored} unscored" if counts.unscored else ""
    return Cell(f"{percent(counts)} ({counts.passed}/{counts.scored}{unscored})", counts.pass_rate)


def _comparing(experiments: Sequence[str]) -> list[str]:
    """What tells whether an experiment does better than another."""
    pair = [name for name in ("no_guidelines", DEFAULT_EXPERIMENT) if name in experiments]
    if len(experiments) < 2:
        return []
    a, b = pair if len(pair) == 2 else experiments[:2]
    return [f"Is the difference more than chance: cli compare experiment={a} experiment={b} --by-model"]


def closing_section(ends: Sequence[tuple[Run, Summary | None]], options: RunOptions) -> Section:
    """What resumes several runs, and tries again what is stuck in them: a line for all runs, not one for each."""
    rest = [run for run, summary in ends if summary is None]
    # The same command would start over with --fresh.
    fresh = [run for run in rest if run.plan.fresh]
    same = counted(len(rest) - len(fresh), "run") if len(rest) > len(fresh) else None
    again = dict.fromkeys(filter(None, (retry_command(run, summary, options) for run, summary in ends)))
    return Section.of(
        same and f"Not complete: {same}; run the same command again to resume.",
        *(f"Resume: {command}" for command in resume_commands(fresh)),
        *(f"Try again: {command}" for command in again),
    )


def retry_lines(run: Run, summary: Summary | None, options: RunOptions, *, alone: bool = True) -> list[str]:
    """What is stuck, and the command that tries it again, unless `closing_section` has it."""
    command = retry_command(run, summary, options)
    if summary is None or command is None:
        return []
    waiting = _waiting(summary)
    trials = counted(sum(waiting.values()), "trial")
    why = ", ".join(f"{n} x {reason}" for reason, n in waiting.items())
    how = [f"Try again: {command}"] if alone else []
    if not given_up(run, summary):
        return [f"Unscored: {trials} ({why}).", *how]
    has, are = ("has", "is") if sum(waiting.values()) == 1 else ("have", "are")
    return [
        f"Stuck: {trials} {has} no verdict after three commands ({why}), and {are} not asked for again.",
        *how,
    ]


def _waiting(summary: Summary) -> dict[str, int]:
    """Trials that asking again may help, by the reason; a recorded reply that is not there stays away."""
    return {reason: n for reason, n in summary.unscored.items() if reason != MISSING}


def share_section(run: Run, share: Summary, name: str) -> Section:
    """What came of one shard; `share` is the totals of its evals."""
    plan = run.plan
    totals: list[str | Table] = [category_table(share), _spent(share)] if share.evals else []
    missing = (
        f"Not done: {counted(len(share.missing), 'eval')}; run the same command again to resume."
        if share.missing
        else None
    )
    return Section.of(
        f"{plan.model}  {plan.experiment}  shard {name}: {len(share.evals)} of {counted(len(plan.evals), 'eval')}",
        *totals,
        *(f"unscored: {n} x {reason}" for reason, n in share.unscored.items()),
        missing,
        f"Results: {run.folder}",
        f"Once all shards are there: cli finish {plan.run_id}",
    )


def _missing(run: Run, summary: Summary) -> list[str]:
    if not summary.missing:
        return []
    named = ", ".join(summary.missing[:5]) + (", ..." if len(summary.missing) > 5 else "")
    return [
        f"Missing: {len(summary.missing)} of {counted(len(run.plan.evals), 'eval')}: {named}",
        f"Complete it: {resume(run.plan).command()}",
    ]


def _similarity(plan: RunPlan, summary: Summary) -> list[str]:
    """How alike replies to sessions are to what was expected, on average over those that were compared."""
    scores = [found.score for found in summary.evals.values() if found.counts.scored]
    if plan.comparison is None or not scores:
        return []
    rules = plan.comparison
    least = f", {rules.threshold:g} is a pass" if rules.method is ComparisonMethod.SIMILARITY else ""
    lines = [f"Similarity: {sum(scores) / len(scores):.2f} on average{least}."]
    if rules.judge:
        decides = "decides" if rules.method is ComparisonMethod.JUDGE else "does not decide"
        lines.append(f"Judge: {rules.judge}, which {decides}; {dollars(summary.judge_cost_usd)}.")
    return lines


def _spent(summary: Summary) -> str:
    usage = summary.usage
    parts = [f"{summary.generation_ms / 1000:.0f} s of replies, {summary.grading_ms / 1000:.0f} s of grading"]
    if usage.output_tokens:
        parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
        parts.append(f"{dollars(summary.cost_usd)}{' (estimated)' if summary.cost_estimated else ''}")
    if summary.reused:
        parts.append(f"{summary.reused} {'reply' if summary.reused == 1 else 'replies'} of earlier runs")
    if summary.searches:
        parts.append(f"{summary.searches} web {'search' if summary.searches == 1 else 'searches'}")
    return "; ".join(parts)
