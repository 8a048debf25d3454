"""The totals of runs: as tables for people, as data for machines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from convex_evals.records import CategorySummary, Summary
from convex_evals.render.model import Cell, Column, Row, Table
from convex_evals.render.numbers import dollars, duration, ends, interval, percent
from convex_evals.stats import Rate
from convex_evals.store.run import Run

_COUNTS = tuple(Column(name, name, right=True) for name in ("passed", "failed", "unscored"))
_IDENTITY = (Column("run_id", None), Column("model", None), Column("experiment", None))
_SPENT = (
    Column("cost_usd", "cost", right=True, spare=1),
    Column(None, "time", right=True, spare=2),
    Column("generation_ms", None),
    Column("grading_ms", None),
    Column(None, "tokens", right=True, spare=3),
    Column("input_tokens", None),
    Column("output_tokens", None),
)
_RUN = (
    Column("run_id", "run", is_id=True),
    Column("date", "date", spare=1),
    Column("model", "model", is_id=True),
    Column("experiment", "experiment"),
)
_RUNS = (
    *_RUN,
    Column("synthetic", None),
    Column("evals", "evals", right=True, spare=2),
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("pass_rate", "pass rate", right=True),
    Column("complete", None),
)


def rate_columns(rates: Iterable[Rate]) -> list[Column]:
    """Pass rates with their 95 % intervals, which `rate_cells` fills; the heading says so where they are two."""
    two = any(interval(rate) != ends(rate.interval) for rate in rates)
    machines = ("interval_low", "interval_high", "these_evals_low", "these_evals_high")
    return [
        Column("pass_rate", "pass rate", right=True),
        Column(None, "95 % interval (these evals)" if two else "95 % interval", right=True),
        *(Column(name, None) for name in machines),
    ]


def rate_cells(rate: Rate) -> list[Cell]:
    shown = interval(rate)
    machines = [*(rate.interval or (None, None)), *(rate.interval_these_evals or (None, None))]
    return [Cell(percent(rate), rate.pass_rate), Cell(shown, shown), *(Cell("", end) for end in machines)]


def parts_of(summary: Summary) -> list[tuple[str, CategorySummary, Rate]]:
    """The categories with their names and pass rates, the whole at the end, as `all`."""
    whole = CategorySummary(**{name: getattr(summary, name) for name in CategorySummary.model_fields})
    parts = [(name, part, summary.rate(name)) for name, part in sorted(summary.categories.items())]
    return [*parts, ("all", whole, summary.rate())]


def category_table(summary: Summary) -> Table:
    """Pass rates by category, the whole at the end."""
    identity = [summary.run_id, summary.model, summary.experiment]
    parts = parts_of(summary)
    return Table.of(
        [*_IDENTITY, Column("category", "category"), *_COUNTS, *rate_columns(rate for *_, rate in parts), *_SPENT],
        [[*identity, name, *_cells(part, rate)] for name, part, rate in parts],
    )


def _cells(part: CategorySummary, rate: Rate) -> Row:
    counts, usage = part.counts, part.usage
    return [
        *(counts.passed, counts.failed, counts.unscored),
        *rate_cells(rate),
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
    """Rate and 95 % intervals of each category and of `all`."""
    return {name: rate_to_data(rate) for name, _, rate in parts_of(summary)}


def rate_to_data(rate: Rate) -> dict[str, Any]:
    """Shares of 1; None where nothing was scored."""
    names = ("pass_rate", "interval", "interval_these_evals")
    return {name: getattr(rate, name) for name in names}
