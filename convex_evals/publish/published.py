"""What became of each run that was to be published, or to be taken back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from convex_evals.publish.ledger import Ledger
from convex_evals.publish.trial import How
from convex_evals.publish.trial_runs import RunError
from convex_evals.render.model import Column, Row, Table
from convex_evals.store.run import Run


@dataclass
class Published:
    """What came of one run."""

    run: Run
    refused: str | None = None
    failed: str | None = None  # why nothing of it was sent
    trials: dict[int, How] = field(default_factory=dict)
    failed_trials: dict[int, str] = field(default_factory=dict)  # why each was not sent, or not to its end
    ledger: Ledger | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing speaks against publishing it so far."""
        return self.refused is None and self.failed is None

    @property
    def failures(self) -> list[str]:
        """In a line each."""
        named = [f"trial {n}: {why}" for n, why in sorted(self.failed_trials.items())]
        return [f"{self.run.plan.run_id}: {why}" for why in ([self.failed] if self.failed else named)]

    @contextmanager
    def of_trial(self, number: int) -> Iterator[None]:
        """Keep a `RunError` inside as the reason why this trial failed."""
        try:
            yield
        except RunError as error:
            self.trials.pop(number, None)
            self.failed_trials[number] = str(error)

    def result(self) -> str:
        """In words, for a table."""
        if self.refused or self.failed:
            return f"refused: {self.refused}" if self.refused else "failed"
        hows = [*(self.trials[n] for n in sorted(self.trials)), *("failed" for _ in self.failed_trials)]
        return ", ".join(f"{hows.count(how)} {how}" for how in dict.fromkeys(hows))

    def to_data(self) -> dict[str, Any]:
        plan, reasons = self.run.plan, self.failed_trials
        known = {t.trial: t.id for t in self.ledger.record.trials} if self.ledger else {}
        return {
            "run_id": plan.run_id,
            "folder": str(self.run.folder),
            "model": plan.model,
            "experiment": plan.experiment,
            "refused": self.refused,
            "failed": self.failed or next(iter(reasons.values()), None),
            "trials": [
                {"trial": n, "id": known.get(n), "how": self.trials.get(n, "failed"), "reason": reasons.get(n)}
                for n in sorted({*self.trials, *reasons})
            ],
        }


def runs_table(found: Sequence[Published]) -> Table:
    columns = [
        Column("run_id", "run", is_id=True),
        Column("date", "date"),
        Column("model", "model", is_id=True),
        Column("experiment", "experiment"),
        Column("evals", "evals", right=True),
        Column("trials", "trials", right=True),
        Column("result", "result"),
    ]
    rows: list[Row] = []
    for each in found:
        plan = each.run.plan
        size = len(plan.evals), plan.trials
        rows.append([plan.run_id, plan.date, plan.model, plan.experiment, *size, each.result()])
    return Table.of(columns, rows)
