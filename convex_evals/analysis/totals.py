"""The totals of runs: as tables for people, as data for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from convex_evals.records import CategorySummary, Counts, Summary
from convex_evals.render.model import Cell, Column, Row, Table
from convex_evals.render.numbers import dollars, duration, interval, percent
from convex_evals.stats import wilson
from convex_evals.store.run import Run

# A pass rate with its 95 % interval; `rate_cells` fills them.
RATE = (
    Column("pass_rate", "pass rate", right=True),
    Column(None, "95 % interval", right=True),
    Column("interval_low", None),
    Column("interval_high", None),
)
_COUNTS = tuple(Column(name, name, right=True) for name in ("passed", "failed", "unscored"))
_IDENTITY = (Column("run_id", None), Column("model", None), Column("experiment", None))
_SPENT = (
    Column("cost_usd", "cost", right=True),
    Column(None, "time", right=True),
    Column("generation_ms", None),
    Column("grading_ms", None),
    Column(None, "tokens", right=True),
    Column("input_tokens", None),
    Column("output_tokens", None),
)
_RUN = (
    Column("run_id", "run", is_id=True),
    Column("date", "date", right=True),
    Column("model", "model", right=True, is_id=True),
    Column("experiment", "experiment", right=True),
)
_RUNS = (
    *_RUN,
    Column("synthetic", None),
    Column("evals", "evals", right=True),
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("pass_rate", "pass rate", right=True),
    Column("complete", None),
)


def rate_cells(counts: Counts) -> list[Cell]:
    low, high = wilson(counts.passed, counts.scored) or (None, None)
    shown = interval(counts)
    return [Cell(percent(counts), counts.pass_rate), Cell(shown, shown), Cell("", low), Cell("", high)]


def category_table(summary: Summary) -> Table:
    """Pass rates by category, the whole at the end, as `all`."""
    whole = CategorySummary(**{name: getattr(summary, name) for name in CategorySummary.model_fields})
    identity = [summary.run_id, summary.model, summary.experiment]
    parts = [*sorted(summary.categories.items()), ("all", whole)]
    return Table.of(
        [*_IDENTITY, Column("category", "category"), *_COUNTS, *RATE, *_SPENT],
        [[*identity, name, *_cells(part)] for name, part in parts],
    )


def _cells(part: CategorySummary) -> Row:
    counts, usage = part.counts, part.usage
    return [
        *(counts.passed, counts.failed, counts.unscored),
        *rate_cells(counts),
        Cell(dollars(part.cost_usd), part.cost_usd),
        duration(part.generation_ms + part.grading_ms),
        *(part.generation_ms, part.grading_ms),
        f"{usage.input_tokens + usage.output_tokens:,}",
        *(usage.input_tokens, usage.output_tokens),
    ]


def unscored_lines(summary: Summary) -> list[str]:
    """Why trials have no verdict, a line for each category that has such."""
    return [
        f"unscored in {name}: {', '.join(f'{n} x {reason}' for reason, n in part.unscored.items())}"
        for name, part in sorted(summary.categories.items())
        if part.unscored
    ]


def runs_table(runs: Iterable[tuple[Run, Summary | None]]) -> Table:
    """A row for each run and its summary; `incomplete` where it has none."""
    return Table.of(_RUNS, [_run_cells(run, summary) for run, summary in runs])


def places_table(columns: Iterable[Column], rows: Iterable[tuple[Run, Row]]) -> Table:
    """A row for each run, with its folder for machines, and what else there is to say of it under `columns`."""
    plans = [(run.plan, str(run.folder), rest) for run, rest in rows]
    return Table.of(
        [*_RUN, Column("folder", None), *columns],
        [[plan.run_id, plan.date, plan.model, plan.experiment, folder, *rest] for plan, folder, rest in plans],
    )


def _run_cells(run: Run, summary: Summary | None) -> Row:
    plan = run.plan
    model = Cell(f"{plan.model} (synthetic)" if plan.synthetic else plan.model, plan.model)
    evals = Cell(
        f"{len(plan.evals)} of {plan.suite_evals}" if plan.is_partial else str(len(plan.evals)), len(plan.evals)
    )
    head: Row = [plan.run_id, plan.date, model, plan.experiment, plan.synthetic, evals]
    if summary is None:
        return [*head, "incomplete", None, None, None, False]
    counts = summary.counts
    rate = Cell(percent(counts), counts.pass_rate)
    passed = f"{counts.passed}/{counts.scored}"
    return [*head, passed, counts.passed, counts.scored, rate, not summary.missing]


def run_to_data(run: Run, summary: Summary | None) -> dict[str, Any]:
    """A run for machines: its plan's identity and its totals."""
    plan = run.plan
    return {
        "run_id": plan.run_id,
        "folder": str(run.folder),
        "model": plan.model,
        "experiment": plan.experiment,
        "synthetic": plan.synthetic,
        "date": plan.date,
        "complete": summary is not None and not summary.missing,
        "summary": summary.model_dump(mode="json", by_alias=True) if summary else None,
        "pass_rates": pass_rates(summary) if summary else None,
    }


def pass_rates(summary: Summary) -> dict[str, Any]:
    """Rate and 95 % interval of each category and of `all`."""
    parts = {name: part.counts for name, part in summary.categories.items()}
    return {name: rate_to_data(counts) for name, counts in {**parts, "all": summary.counts}.items()}


def rate_to_data(counts: Counts) -> dict[str, Any]:
    """Shares of 1; None where nothing was scored."""
    return {"pass_rate": counts.pass_rate, "interval": wilson(counts.passed, counts.scored)}
