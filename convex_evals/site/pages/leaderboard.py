"""The leaderboard: who is best, how sure that is, what the guidelines gain, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.analysis.gains import gain
from convex_evals.analysis.leaderboard_tables import not_ranked, unscored_lines
from convex_evals.analysis.ranking import PROVISIONAL, Leaderboard, Ranking, Standing
from convex_evals.records import Counts
from convex_evals.render.numbers import ends, percent
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Library
from convex_evals.stats import Paired
from convex_evals.text import listed

BARE = "no_guidelines"
GUIDED = "default"


@dataclass(frozen=True)
class Row:
    """One model's line."""

    standing: Standing
    name: str  # for people
    tags: tuple[str, ...]
    categories: Sequence[Counts | None]  # in the order of the table's columns
    other: Counts | None  # of the experiment that is shown beside
    gain: Paired | None

    @property
    def slug(self) -> str:
        return self.standing.latest.model

    @property
    def provider(self) -> str:
        return self.slug.partition("/")[0]

    @property
    def first_token_ms(self) -> int | None:
        """Mean over the runs that know it."""
        found = [run.first_token_ms for run in self.standing.runs if run.first_token_ms is not None]
        return round(sum(found) / len(found)) if found else None


def front_page(library: Library) -> Page:
    """That of the first experiment that is ranked."""
    return _page(library, urls.INDEX, library.board, next(iter(library.board.rankings), None))


def experiment_page(library: Library, experiment: str) -> Page | None:
    found = library.ranking(experiment)
    return None if found is None else _page(library, urls.leaderboard_of(experiment), library.board, found)


def benchmark_page(library: Library, name: str, experiment: str = "") -> Page | None:
    """That of its first experiment, or of this other one."""
    head = next((each for each in library.minted if each.name == name), None)
    if head is None:
        return None
    board = library.board_by(head)
    first, *others = board.rankings
    found = next((each for each in others if each.experiment == experiment), None) if experiment else first
    return None if found is None else _page(library, urls.leaderboard_by(name, experiment), board, found)


def other_places(library: Library) -> Iterator[str]:
    """The pages of minted benchmarks under all but their first experiments."""
    for head in library.minted:
        yield from (urls.leaderboard_by(head.name, each.experiment) for each in library.board_by(head).rankings[1:])


def categories_of(standings: Iterable[Standing]) -> list[str]:
    return sorted({name for standing in standings for run in standing.runs for name in run.categories})


def category_counts(standing: Standing, category: str) -> Counts | None:
    """Of the runs that count, together; None where none has the category."""
    found = [run.categories[category].counts for run in standing.runs if category in run.categories]
    return Counts.total(found) if found else None


def _page(library: Library, place: str, board: Leaderboard, ranking: Ranking | None) -> Page:
    context = library.keep(("leaderboard", place), lambda: _context(library, place, board, ranking))
    title = "Leaderboard" if ranking is None else f"Leaderboard: {ranking.name}"
    return Page(place, "leaderboard", title, "Leaderboard", context, has_charts=ranking is not None)


def _context(library: Library, place: str, board: Leaderboard, ranking: Ranking | None) -> dict[str, Any]:
    standings = ranking.standings if ranking else []
    columns = categories_of(standings)
    other = _beside(board, ranking)
    gains: Mapping[str, Paired] = {}
    if ranking and other:
        bare, guided = (ranking, other) if ranking.experiment == BARE else (other, ranking)
        gains = gain(bare, guided).models
    rows = [_row(library, s, columns, other, gains) for s in standings]
    return {
        "ranking": ranking,
        "rows": rows,
        "columns": columns,
        "other": other,
        "lead": lead(rows),
        "k": ranking.trials if ranking else 1,
        "provisional": PROVISIONAL,
        "switch": _switch(library, place, board),
        "providers": sorted({row.provider for row in rows}),
        "tags": sorted({tag for row in rows for tag in row.tags}),
        "notes": [*board.notes, *unscored_lines(board), *not_ranked(board.unranked), *library.left_out],
        "chart": _chart(rows),
        "runs_dir": library.workspace.runs_dir.name,
    }


def _beside(board: Leaderboard, ranking: Ranking | None) -> Ranking | None:
    """With guidelines goes without, and the other way round."""
    name = {GUIDED: BARE, BARE: GUIDED}.get(ranking.experiment) if ranking else None
    return next((each for each in board.rankings if each.experiment == name), None)


def _row(
    library: Library,
    standing: Standing,
    columns: Sequence[str],
    other: Ranking | None,
    gains: Mapping[str, Paired],
) -> Row:
    slug = standing.latest.model
    entry = library.catalog.get(slug)
    beside = next((s for s in other.standings if s.latest.model == slug), None) if other else None
    return Row(
        standing=standing,
        name=entry.name or slug if entry else slug,
        tags=tuple(entry.tags) if entry else (),
        categories=[category_counts(standing, name) for name in columns],
        other=beside.counts if beside else None,
        gain=gains.get(slug),
    )


def lead(rows: Sequence[Row]) -> str:
    """Who is best, and how sure that is, in one sentence."""
    best = [row for row in rows if row.standing.rank == 1]
    if not best:
        return ""
    rate = best[0].standing.rate
    near = [row for row in rows if row not in best and row.standing.ranks[0] == 1]
    more = [f"{len(best) - 2} others"] if len(best) > 3 else []
    names = listed([row.name for row in (best[:2] if more else best)] + more)
    around = f"{percent(rate)} (95 % interval {ends(rate.interval)})"
    front = f"{names} {'leads' if len(best) == 1 else 'lead'} with {around}"
    if len(rows) == len(best):
        return f"{front}; no other model is ranked."
    if near:
        which = near[0].name if len(near) == 1 else f"{len(near)} others"
        return f"{front}, but not clearly: {which} may be as good."
    return f"{front}, clearly: no other model may be as good."


def _chart(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Score against cost; on the frontier is what nothing cheaper beats."""
    known = [(row, row.standing.cost_per_eval) for row in rows if row.standing.cost_per_eval]
    points: list[dict[str, Any]] = []
    best = -1.0
    for row, cost in sorted(known, key=lambda each: (each[1], -(each[0].standing.counts.pass_rate or 0))):
        counts = row.standing.counts
        rate = counts.pass_rate or 0.0
        low, high = row.standing.rate.interval or (0.0, 1.0)
        points.append(
            {
                "label": row.name,
                "place": urls.model(row.slug),
                "x": round(cost or 0, 6),
                "y": round(rate, 4),
                "low": round(low, 4),
                "high": round(high, 4),
                "frontier": rate > best,
            }
        )
        best = max(best, rate)
    return {"points": points} if len(points) > 1 else None


def _switch(library: Library, place: str, board: Leaderboard) -> list[tuple[str, str, bool]]:
    """Experiments and minted benchmarks, each with its page, and whether that is this one.

    Of a benchmark whose page this is, all experiments that have runs.
    """
    first = library.experiments[:1]
    found = [(name, urls.INDEX if [name] == first else urls.leaderboard_of(name)) for name in library.experiments]
    for head in library.minted:
        found.append((head.name, urls.leaderboard_by(head.name)))
        if board is not library.board and board.rankings[0].minted == head:
            others = [each.experiment for each in board.rankings[1:]]
            found += [(f"{head.name}, {name}", urls.leaderboard_by(head.name, name)) for name in others]
    return [(name, where, where == place) for name, where in found]
