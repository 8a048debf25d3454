"""A comparison for GitHub: the verdict first, what is long folded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from convex_evals.analysis.compare.comparison import Comparison
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
from convex_evals.render.markdown import folded, inline, table
from convex_evals.stats import Conclusion
from convex_evals.text import counted

MARKS = {Conclusion.IMPROVED: "🟢", Conclusion.REGRESSED: "🔴"}
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
        yield _table(CATEGORY_HEADER, category_rows(found.categories), right=range(1, 7))
        yield "p and verdicts are corrected for the number of categories (Holm)."
    for name, flips in directions(found.flips).items():
        if flips:
            rows, at_once = [flip_row(f) for f in flips], shown_at_once(flips)
            yield f"### {name}: {counted(len(flips), 'eval')}"
            yield _table(FLIP_HEADER, rows[:at_once], right=range(1, 4))
            if rest := rows[at_once:_MOST]:
                left_out = f"\n\n{len(rows) - _MOST} more are left out." if len(rows) > _MOST else ""
                yield folded(
                    f"{len(rest)} more, none surer than the last",
                    _table(FLIP_HEADER, rest, right=range(1, 4)) + left_out,
                )
    if why := why_unsure(found.flips):
        yield why
    if rows := means_rows(found):
        yield "### Cost and time"
        yield _table(MEANS_HEADER, rows, right=range(1, 4))
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
        yield f"Not known: {', '.join(unknown)} (recorded in one key with model, guidelines and task)."


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> str:
    return "\n".join(table(header, rows, right))
