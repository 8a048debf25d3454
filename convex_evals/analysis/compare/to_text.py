"""A comparison for a terminal: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator

from convex_evals.analysis.compare.comparison import Comparison
from convex_evals.analysis.compare.facts import Fact
from convex_evals.analysis.compare.rows import (
    CATEGORY_HEADER,
    FLIP_HEADER,
    MEANS_HEADER,
    by_reason,
    category_rows,
    directions,
    flip_row,
    means_rows,
    shown_at_once,
    side_line,
    unscored_line,
    why_unsure,
)
from convex_evals.analysis.compare.words import advice, rate, verdict_line
from convex_evals.render.results import table
from convex_evals.text import counted

_NAMES = 5


def to_text(found: Comparison) -> str:
    """All of it; what comes from files is made harmless."""
    return "\n\n".join(_parts(found))


def _parts(found: Comparison) -> Iterator[str]:
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
        rows = category_rows(found.categories)
        yield (
            table(CATEGORY_HEADER, rows, left=(0, 7)) + "\n(p and verdicts are corrected for the number of categories)"
        )
    yield from _flips(found)
    if rows := means_rows(found):
        estimated = found.a_means.cost_estimated or found.b_means.cost_estimated
        yield table(MEANS_HEADER, rows) + ("\n(costs are estimated from a price map)" if estimated else "")
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
        yield f"Not known: {', '.join(unknown)} (recorded in one key with model, guidelines and task)"


def _values(fact: Fact) -> str:
    return fact.a if fact.a == fact.b else f"{fact.a} -> {fact.b}"


def _flips(found: Comparison) -> Iterator[str]:
    for name, flips in directions(found.flips).items():
        if flips:
            at_once = shown_at_once(flips)
            rows = [flip_row(f) for f in flips[:at_once]]
            text = table([f"{name}: {len(flips)}", *FLIP_HEADER[1:]], rows, left=(0, 4))
            more = len(flips) - at_once
            yield f"{text}\nand {more} more, none surer than the last; --json has all" if more > 0 else text
    if why := why_unsure(found.flips):
        yield why


def _left_out(found: Comparison) -> Iterator[str]:
    if found.left_out:
        yield f"In no pair: {counted(len(found.left_out), 'eval')}"
    for reason, evals in by_reason(found.left_out).items():
        more = ", ..." if len(evals) > _NAMES else ""
        number = f" ({len(evals)})" if len(evals) > 1 else ""
        yield f"  {reason}{number}: {', '.join(evals[:_NAMES])}{more}"
