"""What the new trials say of a change, for people: the same in both reports on guidelines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from convex_evals.analysis.compare.to_markdown import MARKS
from convex_evals.analysis.compare.words import p_value, points, span
from convex_evals.render.markdown import inline
from convex_evals.render.markdown import table as table_lines
from convex_evals.render.model import Section, Table, text_columns
from convex_evals.stats import Conclusion, Confirmation, EvalPair, Retested, Whole, total
from convex_evals.text import and_more

HEADER = ["verdict", "model", "points", "95 % interval", "p", "evals", "flipped", "detects"]
LINES_HEADER = ["screening", "again", "p", "confirmed"]
WEAKER = "Runs with both versions, compared as they are, which says less than what is confirmed above:"
MOST = 60  # rows of a table in Markdown
_NAMED = 3  # of the lines that a verdict rests on, in each direction
_WHOLE = "all of them together"
_OTHER_MARK = "⚪"
_WAYS = {Conclusion.IMPROVED: "better", Conclusion.REGRESSED: "worse"}


def row(model: str, found: Confirmation) -> list[str]:
    """Under `HEADER`. The p is that of the whole, as are points and interval."""
    return [
        found.verdict.words,
        model,
        points(found.difference),
        span(found.interval),
        p_value(found.whole.corrected if found.whole else None),
        str(found.screened),
        str(len(found.flipped)),
        points(found.detectable).lstrip("+"),
    ]


def marked_row(model: str, found: Confirmation) -> list[str]:
    cells = row(model, found)
    return [f"{MARKS.get(found.verdict, _OTHER_MARK)} {cells[0]}", *cells[1:]]


def lines(found: Confirmation, screening: Mapping[str, EvalPair]) -> list[list[str]]:
    """Under `LINES_HEADER`, each with its name before it: what was tested, the whole first."""
    rows = [
        [one.pair.eval, trials(screening[one.pair.eval]), trials(one.pair), p_value(one.corrected), _confirmed(one)]
        for one in found.evals
    ]
    if not found.whole:
        return rows
    return [[_WHOLE, "", trials(_total(found)), p_value(found.whole.corrected), _confirmed(found.whole)], *rows]


def _total(found: Confirmation) -> EvalPair:
    return total(_WHOLE, [one.pair for one in found.evals])


def _confirmed(one: Retested | Whole) -> str:
    return one.verdict.words if one.verdict else "no"


def verdict_line(found: Confirmation) -> str:
    """The whole answer about one model."""
    facts = [f"95 % interval {span(found.interval)}"] if found.interval else []
    facts += [f"p {p_value(found.whole.corrected)}"] if found.whole else []
    line = f"{found.verdict.words}: {points(found.difference)} points" + (f" ({', '.join(facts)})" if facts else "")
    if not found.flipped:
        return f"{line}; none of {found.screened} evals flipped"
    confirmed = f"{len(found.improved)} confirmed better, {len(found.regressed)} worse"
    line = f"{line}; {len(found.flipped)} of {found.screened} evals flipped, {confirmed}"
    return f"{line}; it rests on {rests_on(found)}" if found.shown else line


def rests_on(found: Confirmation) -> str:
    """The lines that are confirmed, what got worse first."""
    parts = []
    for way in (Conclusion.REGRESSED, Conclusion.IMPROVED):
        own = [(e.pair, e.corrected) for e in found.evals if e.verdict is way]
        if found.whole and found.whole.verdict is way:
            own.insert(0, (_total(found), found.whole.corrected))
        names = [f"{pair.eval} {trials(pair)} (p {p_value(p)})" for pair, p in own[:_NAMED]]
        if names:
            parts.append(f"{', '.join(names)}{and_more(len(own) - _NAMED)}, {_WAYS[way]}")
    return "; ".join(parts)


def confirmed_section(found: Sequence[tuple[str, Confirmation]], silent: str | None) -> Section:
    """By model, above what only compares runs; `silent` is the line about models that nothing was found of."""
    rows = [row(model, one) for model, one in found]
    return Section.of(
        "Confirmed by new trials (cli validate-guidelines):",
        Table.of(text_columns(HEADER, left=(0, 1)), rows) if rows else None,
        *(f"{model}: {verdict_line(one)}" for model, one in found),
        silent,
    )


def confirmed_markdown(found: Sequence[tuple[str, Confirmation]], silent: str | None) -> str:
    lines = [*(f"{model}: {verdict_line(one)}" for model, one in found[:MOST]), *([silent] if silent else [])]
    rows = [marked_row(model, one) for model, one in found]
    table = [markdown_table(HEADER, rows, range(2, 8))] if rows else []
    answers = "\n".join(f"- **{inline(line)}**" for line in lines)
    return "\n\n".join(["#### Confirmed by new trials (`cli validate-guidelines`)", *table, answers])


def heading(verdicts: Sequence[Conclusion], silent: int = 0) -> str:
    """The verdicts of all models, the worst first, and how many models there is nothing to say of."""
    order = [Conclusion.REGRESSED, Conclusion.MIXED, Conclusion.IMPROVED]
    found = [v for v in [*order, *(v for v in Conclusion if v not in order)] if v in verdicts]
    words = [f"{MARKS.get(v, _OTHER_MARK)} {v.words}" for v in found]
    if len(verdicts) == 1 and not silent:
        return words[0]
    counts = [f"{word} ({verdicts.count(v)})" for v, word in zip(found, words, strict=True)]
    return ", ".join([*counts, *([f"{_OTHER_MARK} no scored trial ({silent})"] if silent else [])])


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int]) -> str:
    text = "\n".join(table_lines(header, rows[:MOST], right))
    return f"{text}\n\n{len(rows) - MOST} more are left out." if len(rows) > MOST else text


def trials(pair: EvalPair) -> str:
    return f"{pair.a_passed}/{pair.a_scored} -> {pair.b_passed}/{pair.b_scored}"
