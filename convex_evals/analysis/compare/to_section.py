"""A comparison as tables and lines: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator

from convex_evals.analysis.compare.comparison import Comparison
from convex_evals.analysis.compare.facts import Fact
from convex_evals.analysis.compare.tables import (
    by_reason,
    category_table,
    directions,
    flip_table,
    means_table,
    shown_at_once,
    side_line,
    unscored_line,
    why_unsure,
)
from convex_evals.analysis.compare.words import advice, rate, verdict_line
from convex_evals.render.model import Section, apart
from convex_evals.text import counted

_NAMES = 5


def to_section(found: Comparison, *, whole: bool = False) -> Section:
    """The tables and what there is to say about them; `whole` leaves none of the evals that differ out."""
    return apart(*_parts(found, whole))


def _parts(found: Comparison, whole: bool) -> Iterator[str | Section]:
    head = [verdict_line(found.paired)]
    if told := advice(found.paired):
        head.append(told)
    if found.pairs:
        head += [
            f"  A  {rate(found.paired.a_rate):>6}  {side_line(found.a)}",
            f"  B  {rate(found.paired.b_rate):>6}  {side_line(found.b)}",
        ]
    else:
        head += [f"  A  {side_line(found.a)}", f"  B  {side_line(found.b)}"]
    yield "\n".join([*head, *(f"note: {note}" for note in found.notes)])
    yield "\n".join(_facts(found))
    if len(found.categories) > 1:
        corrected = "(p and verdicts are corrected for the number of categories)"
        yield Section.of(category_table(found.categories), corrected)
    yield from _flips(found, whole)
    if means := means_table(found):
        estimated = found.a_means.cost_estimated or found.b_means.cost_estimated
        yield Section.of(means, "(costs are estimated from a price map)" if estimated else None)
    rest = [unscored_line("A", found.a_unscored), unscored_line("B", found.b_unscored), *_left_out(found)]
    if any(rest):
        yield "\n".join(line for line in rest if line)


def _facts(found: Comparison) -> Iterator[str]:
    if found.differing:
        yield "Differs:"
        width = max(len(f.name) for f in found.differing)
        yield from (f"  {f.name:{width}}  {_values(f)}".rstrip() for f in found.differing)
    yield f"Equal: {', '.join(f.name for f in found.equal)}"
    if unknown := [f.name for f in found.facts if f.equal is None]:
        yield f"Not known: {', '.join(unknown)} (recorded in one key with all that is sent)"


def _values(fact: Fact) -> str:
    return fact.a if fact.a == fact.b else f"{fact.a} -> {fact.b}"


def _flips(found: Comparison, whole: bool) -> Iterator[str | Section]:
    for name, flips in directions(found.flips).items():
        if flips:
            at_once = len(flips) if whole else shown_at_once(flips)
            more = len(flips) - at_once
            yield Section.of(
                flip_table(f"{name}: {len(flips)}", flips[:at_once]),
                f"and {more} more, none surer than the last; --json has all" if more > 0 else None,
            )
    if why := why_unsure(found.flips):
        yield why


def _left_out(found: Comparison) -> Iterator[str]:
    if found.left_out:
        yield f"In no pair: {counted(len(found.left_out), 'eval')}"
    for reason, evals in by_reason(found.left_out).items():
        more = ", ..." if len(evals) > _NAMES else ""
        number = f" ({len(evals)})" if len(evals) > 1 else ""
        yield f"  {reason}{number}: {', '.join(evals[:_NAMES])}{more}"
