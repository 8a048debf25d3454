"""Two runs, or two selections of runs, against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from convex_evals.analysis.compare import Comparison, Side, compare
from convex_evals.analysis.compare.tables import directions, left_out_line, means_table, side_line, unscored_line
from convex_evals.analysis.compare.words import advice, verdict_line
from convex_evals.analysis.selection import select
from convex_evals.errors import UserError
from convex_evals.records import Summary
from convex_evals.site import urls
from convex_evals.site.html import TONES, Page
from convex_evals.site.library import Entry, Library
from convex_evals.site.pages.leaderboard import BARE, GUIDED
from convex_evals.stats import Paired

Pair = tuple[str, Entry, Entry]  # in words, A and B


def offered(library: Library) -> list[Pair]:
    """Comparisons that have a page: each model with and without guidelines, its newest run and the one before."""
    return library.keep(("offered",), lambda: _offered(library))


def _offered(library: Library) -> list[Pair]:
    found: list[Pair] = []
    for slug in sorted({e.plan.model for e in library.entries}):
        newest: dict[str, list[Entry]] = {}
        for entry in library.of_model(slug):
            if entry.summary and not entry.summary.missing and not entry.plan.synthetic:
                newest.setdefault(entry.plan.experiment, []).append(entry)
        if BARE in newest and GUIDED in newest:
            found.append((f"{slug}: without and with guidelines", newest[BARE][0], newest[GUIDED][0]))
        for name, runs in newest.items():
            if len(runs) > 1 and _benchmark(runs[0]) == _benchmark(runs[1]):
                found.append((f"{slug}, {name}: the newest run and the one before", runs[1], runs[0]))
    return found


def _benchmark(entry: Entry) -> str:
    summary: Summary | None = entry.summary
    return summary.benchmark if summary else ""


def compare_page(library: Library, a: str = "", b: str = "") -> Page:
    """What is offered; live also two selections, in the words of `cli compare`."""
    context: dict[str, Any] = {
        "offered": [(words, urls.comparison(one.plan, other.plan)) for words, one, other in offered(library)],
        "a": a,
        "b": b,
        "known": [e.plan.run_id for e in library.entries[:100]],
        "problem": "",
        "found": None,
    }
    if a or b:
        try:
            context |= library.keep_recent(("comparison of", a, b), lambda: _selected(library, a, b))
        except UserError as error:
            context["problem"] = str(error)
    return Page(urls.COMPARE, "compare", "Compare", "Compare", context, has_charts=context["found"] is not None)


def _selected(library: Library, a: str, b: str) -> dict[str, Any]:
    # Names of files are for the command line: a page is asked for runs that are here.
    for words in (a, b):
        if "=" not in words and not any(e.plan.run_id.startswith(words) for e in library.entries if words):
            raise UserError(f"{words or 'A and B'}: no such run here; give a run's id, or words like model=NAME")
    return _context(compare(*(select(each, library.workspace, library.store) for each in (a, b))))


def comparison_page(library: Library, place: str) -> Page | None:
    """One of those that are offered."""
    for words, a, b in offered(library):
        if urls.comparison(a.plan, b.plan) == place:
            sides = Side(a.plan.run_id, (a.run,)), Side(b.plan.run_id, (b.run,))
            key, known = ("comparison", a.run.folder, b.run.folder), (a.summary, b.summary)
            context = library.keep_while(key, known, partial(_compared, *sides))
            return Page(place, "comparison", words, "Compare", {"title": words, **context}, has_charts=True)
    return None


def _compared(a: Side, b: Side) -> dict[str, Any]:
    return _context(compare(a, b))


def _context(found: Comparison) -> dict[str, Any]:
    parts: Mapping[str, Paired] = {"all": found.paired, **found.categories}
    unscored = [unscored_line("A", found.a_unscored), unscored_line("B", found.b_unscored)]
    return {
        "found": found,
        "sides": [("A", side_line(found.a)), ("B", side_line(found.b))],
        "line": verdict_line(found.paired),
        "advice": advice(found.paired),
        "parts_of": parts,
        "chart": _forest(parts),
        "directions": directions(found.flips),
        "means": means_table(found),
        "notes": [line for line in (*found.notes, *unscored, left_out_line(found.left_out)) if line],
        "place_of": _places(found),
    }


def _places(found: Comparison) -> Mapping[str, tuple[str | None, str | None]]:
    """By eval: the pages of both sides' newest runs that have it."""

    def place(runs: Sequence[Any], eval_id: str) -> str | None:
        run = next((r for r in runs if eval_id in r.plan.evals), None)
        return urls.trials(run.plan, eval_id) if run else None

    return {p.eval: (place(found.a.runs, p.eval), place(found.b.runs, p.eval)) for p in found.pairs}


def _forest(parts: Mapping[str, Paired]) -> dict[str, Any]:
    rows = [
        {
            "label": name,
            "value": round(part.difference, 4),
            "low": part.interval[0],
            "high": part.interval[1],
            "tone": TONES.get(part.verdict, "unsure"),
        }
        for name, part in parts.items()
        if part.interval
    ]
    return {"x": {"label": "difference of pass rates, B less A"}, "rows": rows}
