"""`cli site`: all pages as files, the same bytes from the same input, written as a whole or not at all.

What was written before is known by a manifest in the folder: of each page, what it was made of. A page whose input is
the same is kept, a file whose bytes are the same is not written, and where nothing changed, nothing is made.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.process.interrupts import interrupts_held
from convex_evals.site import urls
from convex_evals.site.assets import CONTENT_TYPES, read_asset
from convex_evals.site.badge import best_badge
from convex_evals.site.html import Rendition, render
from convex_evals.site.inputs import PageInputs
from convex_evals.site.library import Library
from convex_evals.site.pages.compare import offered
from convex_evals.site.pages.trials import Replies, trials_page
from convex_evals.site.routes import ROUTES, find_page
from convex_evals.site.tree import SiteFile, SiteTree

Tell = Callable[[str, int, int], None]
_FEW_PAGES = 5_000  # on the trials of an eval of a run
_AT_ONCE = 8  # pages that are not about a run
_FEW_JOBS = 4  # that are not worth another process


@dataclass(frozen=True)
class SiteOptions:
    """What is written."""

    base_url: str | None = None  # where it will stand, for what cannot be relative
    published: bool = False  # only runs that a deployment has
    replies: Replies | None = None  # None: those of failed trials while there are few, else all are packed
    processes: int = 1


@dataclass
class SiteReport:
    """What came of it."""

    files: int = 0
    written: int = 0  # files that are new, or other than before
    removed: int = 0
    size: int = 0  # bytes of all files

    @property
    def changed(self) -> bool:
        return bool(self.written or self.removed)


@dataclass(frozen=True)
class _Made:
    """One page, made or kept."""

    place: str
    kept: SiteFile


@dataclass(frozen=True)
class _Job:
    """Pages that one process makes, one after the other."""

    runs: Sequence[int]  # by their numbers, with the pages on their evals
    places: Sequence[str] = ()  # of other pages


@dataclass
class _Maker:
    """Makes pages into a new tree, or keeps those of the old one."""

    library: Library
    options: SiteOptions
    tree: SiteTree
    inputs: PageInputs = field(init=False)
    replies: Replies = field(init=False)

    def __post_init__(self) -> None:
        self.replies = self.options.replies or _affordable(self.library)
        self.inputs = PageInputs(self.library, self.replies.value, self.options.base_url or "")

    def trials(self, number: int) -> list[_Made]:
        """All pages on the evals of one run."""
        entry = self.library.entries[number]
        return list(filter(None, (self._trials(number, eval_id) for eval_id in entry.done)))

    def _trials(self, number: int, eval_id: str) -> _Made | None:
        entry = self.library.entries[number]
        place, key = urls.trials(entry.plan, eval_id), self.inputs.of_trials(entry, eval_id)
        if key and (kept := self.tree.keep(place, key)):
            return _Made(place, kept)
        page = trials_page(self.library, entry, eval_id, self.replies)
        return None if page is None else self._write(place, key or "", render(page, self._delivery))

    def run(self, number: int) -> list[_Made]:
        """The page of one run, and those on its evals."""
        entry = self.library.entries[number]
        place, key = urls.run(entry.plan), self.inputs.of_run(entry)  # without a key, it is made each time
        return [*self.trials(number), *self._page(place, key)]

    def do(self, job: _Job) -> list[_Made]:
        made = [each for number in job.runs for each in self.run(number)]
        return [*made, *(each for place in job.places for each in self._page(place, None))]

    def jobs(self) -> Iterator[_Job]:
        """All there is to do, the longest first."""
        entries = self.library.entries
        numbers = {entry.run.folder: number for number, entry in enumerate(entries)}
        # Runs with what compares them: their records are read once.
        compared: dict[str, tuple[set[int], list[str]]] = {}
        for _, a, b in offered(self.library):
            runs, places = compared.setdefault(a.plan.model, (set(), []))
            runs.update((numbers[a.run.folder], numbers[b.run.folder]))
            places.append(urls.comparison(a.plan, b.plan))
        yield from (_Job(sorted(runs), places) for runs, places in compared.values())
        done = {place for runs, places in compared.values() for place in places}
        done |= {urls.run(entry.plan) for entry in entries}
        yield from (_Job([n]) for n in numbers.values() if not any(n in runs for runs, _ in compared.values()))
        others = [place for route in ROUTES for place in route.every(self.library) if place not in done]
        yield from (_Job([], others[at : at + _AT_ONCE]) for at in range(0, len(others), _AT_ONCE))

    def _page(self, place: str, key: str | None) -> Iterator[_Made]:
        kept = self.tree.keep(place, key) if key else None
        if kept:
            yield _Made(place, kept)
        elif page := find_page(self.library, place):
            yield self._write(place, key or "", render(page, self._delivery))

    @property
    def _delivery(self) -> Rendition:
        return Rendition(base_url=self.options.base_url)

    def _write(self, place: str, key: str, text: str) -> _Made:
        return _Made(place, self.tree.write(place, text.encode("utf-8", "backslashreplace"), key))


def _affordable(library: Library) -> Replies:
    """Coloured files take most of a site's bytes, and of the time that it takes to write it."""
    pages = sum(len(entry.plan.evals) for entry in library.entries)
    return Replies.FAILED if pages <= _FEW_PAGES else Replies.PACKED


_maker: _Maker | None = None


def _start(workspace: Workspace, options: SiteOptions, tree: SiteTree) -> None:
    """In a process of the pool: those that were forked have what their parent read."""
    global _maker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends them
    if _maker is None:
        _maker = _Maker(make_library(workspace, options), options, tree)


def _do(job: _Job) -> list[_Made]:
    assert _maker is not None
    return _maker.do(job)


def make_library(workspace: Workspace, options: SiteOptions) -> Library:
    return Library(workspace, live=False, published=options.published)


def write_site(workspace: Workspace, out: Path, options: SiteOptions, tell: Tell) -> SiteReport:
    """Write the site into the folder `out`, all at once. Raises `UserError`; then `out` is as it was."""
    global _maker
    _refuse_inside(workspace, out)
    library = make_library(workspace, options)
    with SiteTree.open(out) as opened:
        with opened.checking() as checked:
            maker = _Maker(library, options, opened)
            whole = maker.inputs.of_all()
            maker.tree = tree = checked()
        if tree.is_as(whole):
            return _sum(tree.before.values(), 0, 0)
        found: dict[str, SiteFile] = {}
        _maker = maker
        try:
            jobs = list(maker.jobs())
            # Closed before the new tree is removed: nothing writes into it any more.
            with closing(_all(workspace, options, tree, jobs)) as parts:
                for done, made in enumerate(parts, 1):
                    found |= {each.place: each.kept for each in made}
                    tell("pages of runs, and others", done, len(jobs))
        finally:
            _maker = None
        found |= {place: tree.write(place, content, "") for place, content in _files(library, options).items()}
        written = sum(
            kept.digest != known.digest if (known := tree.before.get(p)) else True for p, kept in found.items()
        )
        removed = len(tree.before.keys() - found.keys())
        tree.finish(found, whole)
        return _sum(found.values(), written, removed)


def _refuse_inside(workspace: Workspace, out: Path) -> None:
    """A site among what it is made of would be taken for some of it."""
    place = out.absolute().resolve()
    suite, home = workspace.suite.resolve(), workspace.home.resolve()
    for folder in (workspace.runs_dir.resolve(), home / "reports", suite / "evals", suite / "guidelines"):
        if place == folder or folder in place.parents:
            raise UserError(f"{out}: is in {folder}, which it is made of; name a folder elsewhere")


def _all(
    workspace: Workspace, options: SiteOptions, tree: SiteTree, jobs: Sequence[_Job]
) -> Generator[list[_Made], None, None]:
    """What each of `jobs` makes, in several processes where there is enough to do."""
    if options.processes == 1 or len(jobs) < _FEW_JOBS:
        yield from map(_do, jobs)
        return
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    # What all of them need is read before they part.
    if "fork" in methods and _maker is not None:
        _ = _maker.library.newest, _maker.library.evals
        gc.freeze()  # what is shared stays shared
    with ProcessPoolExecutor(options.processes, context, _start, (workspace, options, tree)) as pool:
        try:
            with interrupts_held():
                parts = pool.map(_do, jobs)
            yield from parts
        except BaseException:
            pool.shutdown(cancel_futures=True)  # and wait: after a shutdown without, leaving the block does not either
            raise


def _files(library: Library, options: SiteOptions) -> Mapping[str, bytes]:
    """What is no page: what pages load, the badge, the leaderboard for machines."""
    from convex_evals.analysis.leaderboard_tables import leaderboard_to_data
    from convex_evals.records import dump_json

    assets = {f"{urls.ASSETS}/{name}": read_asset(name) or b"" for name in CONTENT_TYPES}
    files = {
        **assets,
        "badge.svg": best_badge(library.board),
        "leaderboard.json": dump_json(leaderboard_to_data(library.board)).encode(),
        # GitHub's own generator would leave files out.
        ".nojekyll": b"",
    }
    if options.base_url:
        files["sitemap.xml"] = _sitemap(library, options.base_url)
    return files


def _sitemap(library: Library, base_url: str) -> bytes:
    from xml.sax.saxutils import escape

    places = sorted({place for route in ROUTES for place in route.every(library)})
    found = "".join(f"<url><loc>{escape(base_url + urls.href(place))}</loc></url>\n" for place in places)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{found}</urlset>\n".encode()


def _sum(files: Iterable[SiteFile], written: int, removed: int) -> SiteReport:
    kept = list(files)
    return SiteReport(len(kept), written, removed, sum(each.size for each in kept))


def processes() -> int:
    """As many as there are cores to use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
