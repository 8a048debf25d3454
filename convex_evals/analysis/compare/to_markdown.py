"""A comparison for GitHub: the verdict first, what is long folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from convex_evals.analysis.compare.comparison import Comparison
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
from convex_evals.render.markdown import folded, inline, table, table_lines
from convex_evals.render.model import Table
from convex_evals.stats import Conclusion
from convex_evals.text import counted

MARKS = {Conclusion.IMPROVED: "🟢", Conclusion.REGRESSED: "🔴", Conclusion.MIXED: "🟠"}
_OTHER_MARK = "⚪"
_MOST = 100  # flips of each direction


def to_markdown(found: Comparison) -> str:
    return "\n\n".join(_parts(found)) + "\n"


def _parts(found: Comparison) -> Iterator[str]:
    mark = MARKS.get(found.paired.verdict, _OTHER_MARK)
    yield f"## {mark} {inline(verdict_line(found.paired))}"
    if told := advice(found.paired):
        yield told
    sides = [("A", found.a, found.paired.a_rate), ("B", found.b, found.paired.b_rate)]
    yield _table(["", "pass rate", "runs"], [[name, rate(value), side_line(side)] for name, side, value in sides])
    if found.notes:
        yield "\n".join(f"> {inline(note)}  " for note in found.notes)
    yield from _facts(found)
    if len(found.categories) > 1:
        yield "### By category"
        yield _shown(category_table(found.categories))
        yield "p and verdicts are corrected for the number of categories (Holm)."
    for name, flips in directions(found.flips).items():
        if flips:
            at_once = shown_at_once(flips)
            yield f"### {name}: {counted(len(flips), 'eval')}"
            yield _shown(flip_table("eval", flips[:at_once]))
            if rest := flips[at_once:_MOST]:
                left_out = f"\n\n{len(flips) - _MOST} more are left out." if len(flips) > _MOST else ""
                yield folded(f"{len(rest)} more, none surer than the last", _shown(flip_table("eval", rest)) + left_out)
    if why := why_unsure(found.flips):
        yield why
    if means := means_table(found):
        yield "### Cost and time"
        yield _shown(means)
    lost = [unscored_line("A", found.a_unscored), unscored_line("B", found.b_unscored)]
    yield from (inline(line) for line in lost if line)
    if found.left_out:
        body = _table(["why", "evals"], [[why, ", ".join(e)] for why, e in by_reason(found.left_out).items()])
        yield folded(f"In no pair: {counted(len(found.left_out), 'eval')}", body)


def _facts(found: Comparison) -> Iterator[str]:
    if found.differing:
        yield _table(["differs", "A", "B"], [[f.name, f.a, f.b] for f in found.differing])
    yield folded("What is equal", _table(["", ""], [[f.name, f.a] for f in found.equal]))
    if unknown := [f.name for f in found.facts if f.equal is None]:
        yield f"Not known: {', '.join(unknown)} (recorded in one key with all that is sent)."


def _shown(of: Table) -> str:
    return "\n".join(table_lines(of))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(table(header, rows))
