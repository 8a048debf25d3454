"""Which page stands at which place: the one table behind `cli view` and `cli site`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Entry, Library
from convex_evals.site.pages import compare, evals, guidelines, leaderboard, matrix, model, reports, runs, trials

Make = Callable[[Library, re.Match[str]], Page | None]
Every = Callable[[Library], Iterator[str]]


@dataclass(frozen=True)
class Route:
    """Pages of one kind."""

    pattern: str  # of their places
    make: Make
    every: Every  # all places of the kind

    def match(self, place: str) -> re.Match[str] | None:
        return re.fullmatch(self.pattern, place)


def _one(place: str, make: Callable[[Library], Page]) -> Route:
    return Route(re.escape(place), lambda library, _: make(library), lambda library: iter([place]))


def _entry(library: Library, found: re.Match[str]) -> Entry | None:
    return library.by_place.get((found["provider"], found["model"], found["date"], found["run"]))


def _run(library: Library, found: re.Match[str]) -> Page | None:
    entry = _entry(library, found)
    return runs.run_page(library, entry) if entry else None


def _trials(library: Library, found: re.Match[str]) -> Page | None:
    entry = _entry(library, found)
    return trials.trials_page(library, entry, found["eval"]) if entry else None


def _model(library: Library, found: re.Match[str]) -> Page | None:
    slug = library.slugs.get((found["provider"], found["model"]))
    return model.model_page(library, slug) if slug else None


def _evals(library: Library) -> Iterator[str]:
    ran = {row.eval_id for m in matrix.matrices(library) for row in m.rows}
    return map(urls.eval_page, sorted({*library.evals, *ran}))


def _steps(library: Library) -> Iterator[str]:
    return (urls.guidelines(name, before.sha256, after.sha256) for name, before, after in guidelines.steps(library))


_RUN = r"runs/(?P<provider>[^/]+)/(?P<model>[^/]+)/(?P<date>[^/]+)/(?P<run>[^/]+)"
# The pages on trials are the most, and `cli site` writes them in several processes.
TRIALS = Route(rf"{_RUN}/(?P<eval>[^/]+/[^/]+)\.html", _trials, lambda library: iter(()))
ROUTES = (
    _one(urls.INDEX, leaderboard.front_page),
    Route(
        r"leaderboards/(?P<name>[^/]+)\.html",
        lambda library, found: leaderboard.experiment_page(library, found["name"]),
        lambda library: map(urls.leaderboard_of, library.experiments),
    ),
    Route(
        r"benchmarks/(?P<name>[^/]+)\.html",
        lambda library, found: leaderboard.benchmark_page(library, found["name"]),
        lambda library: (urls.leaderboard_by(head.name) for head in library.minted),
    ),
    Route(
        r"benchmarks/(?P<name>[^/]+)/(?P<experiment>[^/]+)\.html",
        lambda library, found: leaderboard.benchmark_page(library, found["name"], found["experiment"]),
        leaderboard.other_places,
    ),
    Route(
        r"models/(?P<provider>[^/]+)/(?P<model>[^/]+)\.html",
        _model,
        lambda library: map(urls.model, library.slugs.values()),
    ),
    Route(
        r"matrix/(?P<name>[^/]+)\.html",
        lambda library, found: matrix.matrix_page(library, found["name"]),
        lambda library: map(urls.matrix, dict.fromkeys(["default", *(m.experiment for m in matrix.matrices(library))])),
    ),
    _one(urls.EVALS, matrix.evals_page),
    Route(
        r"evals/(?P<eval>[^/]+/[^/]+)\.html",
        lambda library, found: evals.eval_page(library, found["eval"]),
        _evals,
    ),
    _one(urls.RUNS, runs.runs_page),
    Route(rf"{_RUN}/index\.html", _run, lambda library: (urls.run(e.plan) for e in library.entries)),
    TRIALS,
    _one(urls.GUIDELINES, guidelines.guidelines_page),
    Route(
        r"guidelines/(?P<name>[^/]+)/(?P<hashes>[0-9a-f]{8}-[0-9a-f]{8})\.html",
        lambda library, found: guidelines.diff_page(library, found["name"], found["hashes"]),
        _steps,
    ),
    _one(urls.COMPARE, compare.compare_page),
    Route(
        r"compare/.+\.html",
        lambda library, found: compare.comparison_page(library, found[0]),
        lambda library: (urls.comparison(a.plan, b.plan) for _, a, b in compare.offered(library)),
    ),
    _one(urls.REPORTS, reports.reports_page),
    Route(
        r"reports/(?P<path>.+)\.html",
        lambda library, found: reports.report_page(library, f"{found['path']}.md"),
        lambda library: map(urls.report, reports.report_paths(library)),
    ),
)


def find_page(library: Library, place: str) -> Page | None:
    """The page at `place`; None where there is none. Raises `UserError` where what it is made of cannot be read."""
    for route in ROUTES:
        if found := route.match(place):
            return route.make(library, found)
    return None
