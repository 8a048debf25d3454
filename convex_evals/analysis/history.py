"""One model over time: each complete run's pass rate, beside the guidelines that it was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.records import RunPlan, Summary
from convex_evals.render.results import dollars, interval, percent, rate_to_data, table
from convex_evals.store.runs import RunStore


@dataclass(frozen=True)
class Point:
    """One complete run."""

    plan: RunPlan
    summary: Summary

    @property
    def guidelines(self) -> str:
        """Their first eight hash digits, and where they came from; `none` where none were given."""
        if self.plan.guidelines_sha256 is None:
            return "none"
        return f"{self.plan.guidelines_sha256[:8]} {self.plan.guidelines or ''}".rstrip()

    def to_data(self) -> dict[str, Any]:
        return {
            "run_id": self.plan.run_id,
            "date": self.plan.date,
            "model": self.plan.model,
            "experiment": self.plan.experiment,
            "synthetic": self.plan.synthetic,
            "guidelines": self.plan.guidelines,
            "guidelines_sha256": self.plan.guidelines_sha256,
            "suite_commit": self.plan.suite_commit,
            "evals": len(self.summary.evals),
            "missing": len(self.summary.missing),
            "counts": self.summary.counts.model_dump(mode="json"),
            **rate_to_data(self.summary.counts),
            "cost_usd": self.summary.cost_usd,
        }


@dataclass(frozen=True)
class History:
    points: Sequence[Point]  # oldest first
    incomplete: int  # runs without a summary

    def to_text(self) -> str:
        header = ["date", "run", "experiment", "evals", "passed", "pass rate", "95 % interval", "cost", "guidelines"]
        parts = [table(header, [_row(p) for p in self.points], left=(0, 8))] if self.points else []
        if any(p.plan.synthetic for p in self.points):
            parts.append("Synthetic: no model was asked.")
        if self.incomplete:
            parts.append(f"Not complete, so not shown: {self.incomplete}; `cli list` shows them.")
        return "\n\n".join(parts)


def read_history(store: RunStore, slug: str, experiment: str | None = None) -> History:
    """The runs of the model `slug`, oldest first, under all experiments or one."""
    points, incomplete = [], 0
    for run in reversed(store.of_model(slug)):
        if experiment is not None and run.plan.experiment != experiment:
            continue
        summary = run.summary()
        if summary is None:
            incomplete += 1
        else:
            points.append(Point(run.plan, summary))
    return History(points, incomplete)


def _row(point: Point) -> list[str]:
    summary, planned = point.summary, len(point.plan.evals)
    written = planned - len(summary.missing)
    return [
        *(point.plan.date, point.plan.run_id, point.plan.experiment),
        str(planned) if written == planned else f"{written}/{planned}",
        f"{summary.counts.passed}/{summary.counts.scored}",
        percent(summary.counts),
        interval(summary.counts),
        dollars(summary.cost_usd),
        point.guidelines,
    ]
