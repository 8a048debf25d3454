"""Trials that wait for batches which go on at the provider while no command runs."""

from __future__ import annotations

from convex_evals.runs.options import resume
from convex_evals.store.batches import BatchFolder
from convex_evals.store.run import Run
from convex_evals.text import and_more, counted


def pending_line(run: Run, trials: int) -> str:
    """Say what waits for batches that go on, and the command that takes up the replies."""
    plan, wait = run.plan, "waits" if trials == 1 else "wait"
    names = [file.batch or file.token for file in BatchFolder(run).files()]
    what = f"batch {names[0]}" if len(names) == 1 else f"batches ({names[0]}{and_more(len(names) - 1)})"
    return (
        f"{plan.model} {plan.experiment}: {counted(trials, 'trial')} {wait} for {what}; "
        f"`{resume(plan).command()}` takes up the replies"
    )
