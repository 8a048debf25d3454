"""What came of a run, or of one shard of it, told at its end, and the command that resumes it."""

from __future__ import annotations

from dataclasses import replace

from convex_evals.analysis.totals import category_table, unscored_lines
from convex_evals.records import Summary
from convex_evals.records.generation import MISSING
from convex_evals.render.formats import DEFAULT
from convex_evals.render.model import Section, Table
from convex_evals.render.numbers import dollars
from convex_evals.runs.options import RunOptions, resume
from convex_evals.store.runs import Run
from convex_evals.store.summary import given_up
from convex_evals.text import counted


def run_section(
    run: Run, summary: Summary | None, so_far: Summary | None = None, again: list[str] | None = None
) -> Section:
    """The totals and where they are; `so_far` is what there is of a run without a summary, `again` more to say."""
    plan = run.plan
    known = summary or so_far
    parts = [f"{plan.model}  {plan.experiment}{'  (synthetic: no model was asked)' if plan.synthetic else ''}"]
    totals: list[str | Table] = (
        [category_table(known), _spent(known), *unscored_lines(known)]
        if known and (summary or known.categories)
        else []
    )
    if summary is None:
        # The same command would start over with --fresh.
        how = f"`{resume(plan).command()}` resumes it" if plan.fresh else "run the same command again to resume"
        rest = [
            f"Some trials could not be scored, or were not asked; {how}.",
            f"How far it is: cli status {plan.run_id}",
        ]
    else:
        rest = [*_missing(run, summary), *(again or [])]
    if known and "none" in known.sandbox:
        rest.append("Sandbox: none (what was graded could do whatever you can)")
    return Section.of(*parts, *totals, *rest, f"Results: {run.folder}", f"Look at them: cli show {plan.run_id}")


def retry_command(run: Run, summary: Summary | None, options: RunOptions) -> str | None:
    """What asks again for trials of a complete run that have no verdict; `options` made the run."""
    if summary is None or summary.missing or not _waiting(summary):
        return None
    if options.runs or options.run_id:
        return f"cli status {run.plan.run_id}"  # which knows what means the same in another run
    return replace(options, fresh=False, retry_unscored=given_up(run, summary), form=DEFAULT).command()


def retry_lines(run: Run, summary: Summary | None, options: RunOptions) -> list[str]:
    """What is stuck, and the command that tries it again."""
    command = retry_command(run, summary, options)
    if summary is None or command is None:
        return []
    waiting = _waiting(summary)
    trials = counted(sum(waiting.values()), "trial")
    why = ", ".join(f"{n} x {reason}" for reason, n in waiting.items())
    if not given_up(run, summary):
        return [f"Unscored: {trials} ({why}).", f"Try again: {command}"]
    has, are = ("has", "is") if sum(waiting.values()) == 1 else ("have", "are")
    return [
        f"Stuck: {trials} {has} no verdict after three commands ({why}), and {are} not asked for again.",
        f"Try again: {command}",
    ]


def _waiting(summary: Summary) -> dict[str, int]:
    """Trials that asking again may help, by the reason; a recorded reply that is not there stays away."""
    return {reason: n for reason, n in summary.unscored.items() if reason != MISSING}


def share_section(run: Run, share: Summary, name: str) -> Section:
    """What came of one shard; `share` is the totals of its evals."""
    plan = run.plan
    totals: list[str | Table] = [category_table(share), _spent(share)] if share.evals else []
    missing = f"Not done: {len(share.missing)} evals; run the same command again to resume." if share.missing else None
    return Section.of(
        f"{plan.model}  {plan.experiment}  shard {name}: {len(share.evals)} of {len(plan.evals)} evals",
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
        f"Missing: {len(summary.missing)} of {len(run.plan.evals)} evals: {named}",
        f"Complete it: {resume(run.plan).command()}",
    ]


def _spent(summary: Summary) -> str:
    usage = summary.usage
    parts = [f"{summary.generation_ms / 1000:.0f} s of replies, {summary.grading_ms / 1000:.0f} s of grading"]
    if usage.output_tokens:
        parts.append(f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out")
        parts.append(f"{dollars(summary.cost_usd)}{' (estimated)' if summary.cost_estimated else ''}")
    if summary.reused:
        parts.append(f"{summary.reused} replies of earlier runs")
    if summary.searches:
        parts.append(f"{summary.searches} web searches")
    return "; ".join(parts)
