"""One model: its history, its categories against the field, its worst evals, how stable it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.ranking import PROVISIONAL, Ranking, Standing
from convex_evals.records import Counts
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Entry, Library
from convex_evals.site.pages.leaderboard import categories_of, category_counts
from convex_evals.stats import Rate


@dataclass(frozen=True)
class Against:
    """One category: this model, and all other ranked models together."""

    name: str
    own: Rate
    field: Counts


@dataclass(frozen=True)
class EvalAgainst:
    """One eval, and how steady its verdicts are."""

    name: str
    own: Counts
    field: Counts  # of all other ranked models
    runs: Sequence[Counts]  # of each run that counts, the newest first
    latest: str  # place of the newest run's page on it

    @property
    def steady(self) -> bool:
        """Whether all trials agree."""
        return not (self.own.passed and self.own.failed)


def model_page(library: Library, slug: str) -> Page:
    """Of a model that has runs."""
    place = urls.model(slug)
    entries = library.of_model(slug)
    rankings = [(r, s) for r in library.board.rankings for s in r.standings if s.latest.model == slug]
    entry = library.catalog.get(slug)
    parts = [_part(ranking, standing) for ranking, standing in rankings]
    context: dict[str, Any] = {
        "slug": slug,
        "name": entry.name or slug if entry else slug,
        "tags": entry.tags if entry else (),
        "standings": parts,
        "provisional": PROVISIONAL,
        "entries": entries,
        "reports": reports_of(library, entries),
        "chart": _history(entries),
    }
    return Page(place, "model", context["name"], "Leaderboard", context, has_charts=True)


def _part(ranking: Ranking, standing: Standing) -> dict[str, Any]:
    field = [s for s in ranking.standings if s is not standing]
    evals = sorted(_evals(ranking, standing), key=lambda row: (row.own.pass_rate or 0.0, row.name))
    return {
        "ranking": ranking,
        "standing": standing,
        "categories": [
            Against(name, standing.rate_of(name), Counts.total(c for s in field if (c := category_counts(s, name))))
            for name in categories_of([standing])
        ],
        "evals": evals,
        "unsteady": sum(not row.steady for row in evals),
        "outcomes": Counter("never" if not r.own.passed else "always" if not r.own.failed else "mixed" for r in evals),
    }


def _evals(ranking: Ranking, standing: Standing) -> Iterator[EvalAgainst]:
    names = sorted({name for run in standing.runs for name in run.evals})
    for name in names:
        with_it = [run for run in standing.runs if name in run.evals]
        counts = [run.evals[name].counts for run in with_it]
        others = (s for s in ranking.standings if s is not standing)
        field = [run.evals[name].counts for s in others for run in s.runs if name in run.evals]
        own = Counts.total(counts)
        if own.scored:
            yield EvalAgainst(name, own, Counts.total(field), counts, urls.trials(with_it[0], name))


def _history(entries: Sequence[Entry]) -> dict[str, Any] | None:
    """Each experiment's runs over time, and the days on which they were first given other guidelines."""
    series: dict[str, list[dict[str, Any]]] = {}
    marks = []
    given: dict[str, str | None] = {}
    for each in reversed([e for e in entries if e.summary and e.summary.counts.scored]):
        assert each.summary is not None
        counts, plan = each.summary.counts, each.plan
        low, high = each.summary.rate().interval or (0.0, 1.0)
        own = series.setdefault(plan.experiment, [])
        own.append(
            {
                "x": plan.date,
                "n": sum(point["x"] == plan.date for point in own),
                "y": round(counts.pass_rate or 0.0, 4),
                "low": round(low, 4),
                "high": round(high, 4),
                "label": plan.run_id,
                "place": urls.run(plan),
            }
        )
        if plan.guidelines_sha256 and given.get(plan.experiment, "") != plan.guidelines_sha256:
            marks.append({"x": plan.date, "label": plan.guidelines_sha256[:8]})
            given[plan.experiment] = plan.guidelines_sha256
    if not series:
        return None
    found = [{"name": name, "points": points} for name, points in series.items()]
    return {"y": {"label": "pass rate"}, "series": found, "marks": marks}


def reports_of(library: Library, entries: Sequence[Entry]) -> list[tuple[str, str]]:
    """Names and places of the reports on these runs."""
    from convex_evals.reports.files import Folder
    from convex_evals.site.pages.reports import report_paths

    there = set(report_paths(library))
    folder = Folder(library.reports_dir)
    found = [(e.plan, folder.path(e.plan).relative_to(folder.root).as_posix()) for e in entries]
    return [(f"{plan.date} {plan.run_id}", urls.report(path)) for plan, path in found if path in there]
