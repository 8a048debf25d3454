"""Which runs may lose their raw replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore


def to_prune(store: RunStore, keep: int | None, older_than: int | None, today: date) -> list[Run]:
    """Complete runs that still have replies, are not among the `keep` newest of their model and experiment, and are
    more than `older_than` days old; a limit that is None does not limit.
    """
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for run, summary in store.with_summaries(store.all()):
        plan = run.plan
        if summary is None or summary.missing:
            continue
        seen[plan.model, plan.experiment] += 1
        recent = keep is not None and seen[plan.model, plan.experiment] <= keep
        young = older_than is not None and date.fromisoformat(plan.date) >= today - timedelta(days=older_than)
        if not recent and not young and run.replies():
            found.append(run)
    return found


@dataclass(frozen=True)
class Loss:
    """What a run loses, or would lose."""

    run: Run
    replies: int
    size: int  # bytes
    done: bool


def prune_runs(runs: Iterable[Run], today: date, *, do: bool) -> list[Loss]:
    """What `runs` lose; they lose it only where `do` says so."""
    found = []
    for run in runs:
        replies = run.replies()
        found.append(Loss(run, len(replies), run.size_of(replies), do))
        if do:
            run.prune(today.isoformat())
    return found
