"""What reports are built from, beside the run itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.models import Item
from convex_evals.records import Counts
from convex_evals.reports.actions import Repository
from convex_evals.reports.classify import Decision
from convex_evals.store.runs import RunStore


@dataclass(frozen=True)
class Sources:
    """What reports are built from, read once for all of a command."""

    store: RunStore
    home: Path  # the repository that the report stands in
    suite: Path
    items: Mapping[str, Item]  # evals of the suite, and sessions that the runs asked about
    repository: Repository
    decisions: Sequence[Decision]  # of all reports
    others: Mapping[str, Mapping[str, Counts]]  # by model that was asked: its newest counts by eval

    def asked(self, eval_id: str, model: str) -> tuple[int, int]:
        """How many other models were asked this eval, and how many passed it at least once."""
        counts = [c[eval_id] for m, c in self.others.items() if m != model and eval_id in c]
        return sum(c.scored > 0 for c in counts), sum(c.passed > 0 for c in counts)


def newest_counts(store: RunStore) -> dict[str, dict[str, Counts]]:
    """By model, what came of each eval in its newest complete run; synthetic ones are no models."""
    found: dict[str, dict[str, Counts]] = {}
    for model in store.models():
        asked = [run for run in store.of_model(model) if not run.plan.synthetic]
        for _, summary in store.with_summaries(asked):
            if summary:
                found[model] = {e: s.counts for e, s in summary.evals.items()}
                break
    return found
