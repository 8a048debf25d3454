"""The tables of a comparison, and the lines that terminal and Markdown have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from convex_evals.analysis.compare.comparison import Comparison
from convex_evals.analysis.compare.sides import LeftOut, Side
from convex_evals.analysis.compare.words import p_value, points, rate, span
from convex_evals.render.model import Cell, Column, Row, Table, Tone
from convex_evals.render.numbers import dollars, duration
from convex_evals.stats import Conclusion, Flip, Paired, Surety
from convex_evals.text import counted

# Of one category or model: rates are shares of 1, a difference is B less A.
_PAIRED = (
    Column("difference", "difference", right=True),
    Column(None, "95 % interval", right=True),
    Column("interval_low", None),
    Column("interval_high", None),
    Column("p", "p", right=True, spare=1),
    Column("verdict", "verdict"),
)
TONES = {Conclusion.IMPROVED: Tone.GOOD, Conclusion.REGRESSED: Tone.BAD}
_FLIP = (
    Column(None, "A", right=True),
    Column("a_passed", None),
    Column("a_scored", None),
    Column(None, "B", right=True),
    Column("b_passed", None),
    Column("b_scored", None),
    Column("p", "p", right=True),
    Column("how_sure", "how sure"),
)
_MEANS = (
    Column("per_reply", "per reply"),
    Column("a", "A", right=True),
    Column("b", "B", right=True),
    Column(None, "difference", right=True),
    Column("difference", None),
)
_FEW_FLIPS = 5
_MOST_FLIPS = 20
_RUNS = 3  # named of a side that has many


def category_table(parts: Mapping[str, Paired], model: str | None = None) -> Table:
    """A row for each category; machines are told the model, where one is named."""
    columns = [*_named(model), Column("category", "category"), *_paired("A", "B")]
    return Table.of(columns, [[*_name(model), name, *_cells(part)] for name, part in parts.items()])


def models_table(parts: Mapping[str, Paired], names: tuple[str, str] | None = None) -> Table:
    """A row for each model; machines are told the two sides, where they are named."""
    named = [Column("before", None), Column("after", None)] if names else []
    columns = [*named, Column("model", "model", is_id=True), *_paired(*(names or ("A", "B")))]
    return Table.of(columns, [[*(names or ()), name, *_cells(part)] for name, part in parts.items()])


def _paired(a: str, b: str) -> list[Column]:
    rates = [Column("a", a, right=True), Column("b", b, right=True)]
    return [Column("evals", "evals", right=True), *rates, *_PAIRED]


def _named(model: str | None) -> list[Column]:
    return [Column("model", None)] if model else []


def _name(model: str | None) -> list[str]:
    return [model] if model else []


def _cells(part: Paired) -> Row:
    low, high = part.interval or (None, None)
    return [
        part.evals,
        Cell(rate(part.a_rate), part.a_rate),
        Cell(rate(part.b_rate), part.b_rate),
        Cell(points(part.difference), part.difference),
        *(span(part.interval), low, high),
        Cell(p_value(part.p), part.p),
        Cell(part.verdict.words, part.verdict.value, TONES.get(part.verdict)),
    ]


def flip_table(heading: str, flips: Sequence[Flip], model: str | None = None) -> Table:
    """A row for each of these evals, in their order; `heading` stands above their names. `model` as above."""
    columns = [*_named(model), Column("eval", heading), *_FLIP]
    return Table.of(columns, [[*_name(model), *_flip_cells(flip)] for flip in flips])


def _flip_cells(flip: Flip) -> Row:
    pair, p = flip.pair, flip.p if flip.has_days else None
    return [
        *(pair.eval, f"{pair.a_passed}/{pair.a_scored}", pair.a_passed, pair.a_scored),
        *(f"{pair.b_passed}/{pair.b_scored}", pair.b_passed, pair.b_scored),
        *(Cell(p_value(p), p), flip.surety.value),
    ]


def why_unsure(flips: Sequence[Flip]) -> str | None:
    """Why no single eval is marked as more than chance, where nothing could have been; None where something could."""
    if not flips or any(flip.has_days for flip in flips):
        return None
    return (
        "Trials of one day are alike, so single evals are told from chance by days: it takes about four on each side, "
        "or `cli validate-guidelines`."
    )


def directions(flips: Sequence[Flip]) -> dict[str, list[Flip]]:
    """Those that got worse, and those that got better; the surest first."""
    return {"Worse": [f for f in flips if f.difference < 0], "Better": [f for f in flips if f.difference > 0]}


def shown_at_once(flips: Sequence[Flip]) -> int:
    """How many of these are worth a look before anything is unfolded: what is more than chance, and a few."""
    return min(_MOST_FLIPS, max(_FEW_FLIPS, sum(f.surety is not Surety.CHANCE for f in flips)))


def means_table(found: Comparison) -> Table | None:
    """None where a side has no replies."""
    a, b = found.a_means, found.b_means
    rows = [
        _means_row("cost", a.cost_usd, b.cost_usd, lambda x: f"${x:.4f}" if x < 1 else dollars(x)),
        _means_row("tokens in", a.input_tokens, b.input_tokens, lambda x: f"{x:,.0f}"),
        _means_row("tokens out", a.output_tokens, b.output_tokens, lambda x: f"{x:,.0f}"),
        _means_row("time", a.duration_ms, b.duration_ms, duration),
    ]
    known = [row for row in rows if row is not None]
    return Table.of(_MEANS, known) if known else None


def _means_row(name: str, a: float | None, b: float | None, shown: Callable[[float], str]) -> Row | None:
    if a is None or b is None:
        return None
    percents = round((b / a - 1) * 100) if a else None
    change = "-" if percents is None else f"{percents:+} %" if percents else "0 %"
    return [name, Cell(shown(a), a), Cell(shown(b), b), change, b - a]


def side_line(side: Side) -> str:
    """What was asked for, and which runs that is."""
    ids = [f"{run.plan.run_id} ({run.plan.date})" for run in side.runs[:_RUNS]]
    more = f" and {len(side.runs) - _RUNS} more" if len(side.runs) > _RUNS else ""
    models = ", ".join(sorted({f"{run.plan.model} {run.plan.experiment}" for run in side.runs}))
    return f"{models}: {', '.join(ids)}{more}"


def unscored_line(name: str, unscored: Mapping[str, int]) -> str | None:
    if not unscored:
        return None
    total = sum(unscored.values())
    return f"{name} has {counted(total, 'unscored trial')} of these evals: " + ", ".join(
        f"{n} x {why}" for why, n in unscored.items()
    )


def left_out_line(left_out: Sequence[LeftOut]) -> str | None:
    """How many evals are in no pair, and why."""
    if not left_out:
        return None
    reasons = ", ".join(f"{why} ({len(evals)})" for why, evals in by_reason(left_out).items())
    return f"{counted(len(left_out), 'eval')} {'are' if len(left_out) > 1 else 'is'} in no pair: {reasons}"


def by_reason(left_out: Sequence[LeftOut]) -> dict[str, list[str]]:
    """The evals that are in no pair, by why."""
    ordered = sorted(left_out, key=lambda one: one.reason)
    return {reason: [one.eval for one in part] for reason, part in groupby(ordered, key=lambda one: one.reason)}
