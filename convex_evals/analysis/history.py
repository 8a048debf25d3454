"""One model over time: each complete run's pass rate, beside the guidelines that it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.totals import rate_cells, rate_columns, rate_to_data
from convex_evals.records import RunPlan, Summary
from convex_evals.records.benchmark import BenchmarkHead, by_id
from convex_evals.render.model import Cell, Column, Row, Section, Table, apart
from convex_evals.render.numbers import dollars
from convex_evals.store.runs import RunStore

_BEFORE_RATES = (
    Column("date", "date"),
    Column("run_id", "run", is_id=True),
    Column("experiment", "experiment"),
    Column(None, "benchmark", spare=2),
    Column("benchmark", None),
    Column(None, "evals", right=True),
    Column("evals", None),
    Column("missing", None),
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
)
_AFTER_RATES = (
    Column("cost_usd", "cost", right=True, spare=1),
    Column(None, "guidelines", spare=1),
    Column("guidelines", None),
    Column("guidelines_sha256", None),
)


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


@dataclass(frozen=True)
class History:
    points: Sequence[Point]  # oldest first
    incomplete: int  # runs without a summary
    names: Mapping[str, str]  # of minted benchmarks, by id


def read_history(
    store: RunStore, slug: str, experiment: str | None = None, minted: Sequence[BenchmarkHead] = ()
) -> History:
    """The runs of the model `slug`, oldest first, under all experiments or one; `minted`, newest first."""
    points, incomplete = [], 0
    asked = [run for run in store.of_model(slug) if experiment in (None, run.plan.experiment)]
    for run, summary in store.with_summaries(reversed(asked)):
        if summary is None:
            incomplete += 1
        else:
            points.append(Point(run.plan, summary))
    return History(points, incomplete, {own: heads[0].name for own, heads in by_id(minted).items()})


def history_section(slug: str, history: History) -> Section:
    """The model's name, its runs, and what is not among them."""
    points = history.points
    notes = ["Synthetic: no model was asked."] if any(p.plan.synthetic for p in points) else []
    if len({p.summary.benchmark for p in points}) > 1:
        notes.append(
            "Only runs of the same benchmark and experiment can be compared: others had other evals, graders or "
            "guidelines."
        )
    if history.incomplete:
        notes.append(f"Not complete, so not shown: {history.incomplete}; `cli list` shows them.")
    columns = [*_BEFORE_RATES, *rate_columns(p.summary.rate() for p in points), *_AFTER_RATES]
    table = Table.of(columns, [_row(p, history.names) for p in points]) if points else ""
    return apart(Section.of(slug, table), *notes)


def history_to_data(slug: str, history: History) -> dict[str, Any]:
    return {
        "model": slug,
        "runs": [_to_data(p, history.names) for p in history.points],
        "incomplete": history.incomplete,
    }


def _row(point: Point, names: Mapping[str, str]) -> Row:
    plan, summary = point.plan, point.summary
    planned, counts = len(plan.evals), summary.counts
    written = planned - len(summary.missing)
    return [
        *(plan.date, plan.run_id, plan.experiment),
        *(names.get(summary.benchmark, summary.benchmark[:8]), summary.benchmark),
        str(planned) if written == planned else f"{written}/{planned}",
        *(written, len(summary.missing)),
        *(f"{counts.passed}/{counts.scored}", counts.passed, counts.scored),
        *rate_cells(point.summary.rate()),
        Cell(dollars(summary.cost_usd), summary.cost_usd),
        *(point.guidelines, plan.guidelines, plan.guidelines_sha256),
    ]


def _to_data(point: Point, names: Mapping[str, str]) -> dict[str, Any]:
    return {
        "run_id": point.plan.run_id,
        "date": point.plan.date,
        "model": point.plan.model,
        "experiment": point.plan.experiment,
        "benchmark": {"id": point.summary.benchmark, "name": names.get(point.summary.benchmark)},
        "synthetic": point.plan.synthetic,
        "guidelines": point.plan.guidelines,
        "guidelines_sha256": point.plan.guidelines_sha256,
        "suite_commit": point.plan.suite_commit,
        "evals": len(point.summary.evals),
        "missing": len(point.summary.missing),
        "counts": point.summary.counts.model_dump(mode="json"),
        **rate_to_data(point.summary.rate()),
        "cost_usd": point.summary.cost_usd,
    }
