"""What pages are made from: runs, rankings and evals, read once and kept until a file of theirs changes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from convex_evals.analysis.leaderboard import Ranker
from convex_evals.analysis.ranking import Leaderboard, Ranking
from convex_evals.analysis.verdicts import VerdictBoard
from convex_evals.config import CONFIG_NAME, Workspace
from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.inputs.suite_files import is_there
from convex_evals.models.catalog import MODELS_NAME, load_catalog
from convex_evals.publish.ledger import LEDGERS
from convex_evals.records import RunPlan, Summary
from convex_evals.records.benchmark import BenchmarkHead
from convex_evals.records.models import ModelEntry
from convex_evals.records.publication import Publication
from convex_evals.site.kept import KeptRun, Latest
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.paths import slug_folders
from convex_evals.store.records import read_record
from convex_evals.store.run import SUMMARY_NAME, Run, open_run
from convex_evals.store.runs import RunStore
from convex_evals.suite.suite import Eval, load_suite
from convex_evals.vcs.git import has_commits, head_files

T = TypeVar("T")
Stamp = tuple[str, float, float]
# A page asks several times what is there; within this time the answer is the same.
_FRESH_SECONDS = 1.0
_MOST_PAGES = 256  # and comparisons, of the latest requests
_MOST_RECORDS = 2_000  # files of runs: those of a few long ones

# Of evals: what no page shows.
_NOT_SHOWN = frozenset({"node_modules", "_generated", "wrong", "accept"})


@dataclass(frozen=True)
class Entry:
    """One run as lists show it."""

    run: Run
    summary: Summary | None  # None: it is not complete

    @property
    def plan(self) -> RunPlan:
        return self.run.plan

    @property
    def done(self) -> list[str]:
        """The evals that are written, and so have a page."""
        if self.summary and not self.summary.missing:
            return list(self.summary.evals)
        return [eval_id for eval_id in self.plan.evals if self.run.is_written(eval_id)]


@dataclass
class Library:
    """All that is shown, of one workspace. Safe to use from several threads; errors are `UserError`."""

    workspace: Workspace
    live: bool = True  # as things are here and now; else as every checkout has them alike
    published: bool = False  # only runs that a deployment has
    _kept: dict[tuple[object, ...], Any] = field(default_factory=dict)
    _pages: Latest = field(default_factory=lambda: Latest(_MOST_PAGES))
    _records: Latest = field(default_factory=lambda: Latest(_MOST_RECORDS))
    _lasting: Latest = field(default_factory=lambda: Latest(_MOST_PAGES))
    _brief: dict[tuple[object, ...], tuple[float, Any]] = field(default_factory=dict)
    _stamps: tuple[Stamp, ...] = ()
    _looked: float = float("-inf")
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def store(self) -> RunStore:
        kind = _Published if self.published else RunStore
        return kind(self.workspace.runs_dir)

    @property
    def benchmarks(self) -> BenchmarkFolder:
        return BenchmarkFolder(self.workspace.home)

    @property
    def reports_dir(self) -> Path:
        return self.workspace.home / "reports"

    def keep(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """What `make` says, asked again once a run came, was completed or went, or the suite changed.

        For what there is no more of than there is data; what requests are made of is kept by `keep_recent`.
        """
        with self._lock:
            self._look()
            if key not in self._kept:
                self._kept[key] = make()
            found: T = self._kept[key]
            return found

    def keep_for_page(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """The same of what one page alone is made of: a site makes each page once."""
        return self.keep(key, make) if self.live else make()

    def keep_recent(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """The same, of the latest of them."""
        with self._lock:
            self._look()
            return self._pages.keep(key, make)

    def kept(self, key: tuple[object, ...]) -> Any:
        """What `keep_recent` keeps under `key`; None where it keeps nothing."""
        with self._lock:
            self._look()
            return self._pages.get(key)

    def _keep_record(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        with self._lock:
            return self._records.keep(key, make)

    def keep_while(self, key: tuple[object, ...], same: object, make: Callable[[], T]) -> T:
        """The same, whatever else changes, as long as `same` is equal to what it was. Others need not wait for it."""
        with self._lock:
            before, found = self._lasting.get(key) or (None, None)
        if found is None or before != same:
            found = make()
        with self._lock:
            self._lasting.put(key, (same, found))
        return found

    def keep_briefly(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """The same of what changes without a run: asked again after a moment."""
        with self._lock:
            made, found = self._brief.get(key, (float("-inf"), None))
            if time.monotonic() - made >= _FRESH_SECONDS:
                found = make()
                self._brief[key] = time.monotonic(), found
            kept: T = found
            return kept

    def _look(self) -> None:
        # What is written at once is of one moment.
        if time.monotonic() - self._looked < (_FRESH_SECONDS if self.live else float("inf")):
            return
        stamps = (*_run_stamps(self.workspace.runs_dir), *map(_stamp, self._others()))
        if stamps != self._stamps:
            for kept in (self._kept, self._pages, self._records):
                kept.clear()
            self._stamps = stamps
        self._looked = time.monotonic()

    @property
    def guidelines_files(self) -> list[Path]:
        """Those of all experiments that are there."""
        suite = self.workspace.suite
        named = {each.guidelines for each in self.workspace.config.experiments.values() if each.guidelines}
        return [suite / path for path in sorted(named) if "@" not in path and is_there(suite, suite / path)]

    def _others(self) -> Iterator[Path]:
        """Files besides runs that pages are made of: the suite with its history, and settings."""
        suite, home = self.workspace.suite, self.workspace.home
        yield from (suite / CONFIG_NAME, home / MODELS_NAME, home / "benchmarks", *head_files(suite))
        yield from self.guidelines_files
        for top in (suite / "evals", self.reports_dir):
            for folder, folders, files in os.walk(top):
                folders[:] = [name for name in folders if name not in _NOT_SHOWN]
                yield from (Path(folder, name) for name in files)

    @property
    def entries(self) -> Sequence[Entry]:
        """All runs that can be read, newest first."""
        return self._read()[0]

    @property
    def left_out(self) -> Sequence[str]:
        """Why other runs cannot be read, a line each."""
        return self._read()[1]

    def _read(self) -> tuple[list[Entry], list[str]]:
        def read() -> tuple[list[Entry], list[str]]:
            store = replace(self.store, left_out=[])
            return [self._entry(run, summary) for run, summary in store.readable()], store.left_out or []

        return self.keep(("entries",), read)

    def _entry(self, run: Run, summary: Summary | None) -> Entry:
        if summary is None or summary.missing:
            return Entry(run, summary)
        return Entry(KeptRun(run.folder, run.plan, summary, self._keep_record), summary)

    @property
    def by_place(self) -> Mapping[tuple[str, ...], Entry]:
        """By the four folders below that of all runs."""
        root = self.workspace.runs_dir
        return self.keep(("by place",), lambda: {e.run.folder.relative_to(root).parts: e for e in self.entries})

    def of_model(self, slug: str) -> list[Entry]:
        """Newest first."""
        return [e for e in self.entries if e.plan.model == slug]

    @property
    def slugs(self) -> Mapping[tuple[str, str], str]:
        """The models that have runs, by the two folders of their names."""
        return {slug_folders(slug): slug for slug in sorted({e.plan.model for e in self.entries})}

    @property
    def experiments(self) -> list[str]:
        """Those that are ranked, `default` first."""
        return [ranking.experiment for ranking in self.board.rankings]

    @property
    def board(self) -> Leaderboard:
        """The ranking of each experiment."""
        return self.keep(("board",), lambda: self._ranker().all())

    @property
    def newest(self) -> VerdictBoard:
        """The newest verdicts of each model, for what is compared eval by eval."""
        return self.keep(("newest",), lambda: self._ranker().newest_verdicts())

    @property
    def minted(self) -> Sequence[BenchmarkHead]:
        return self.keep(("minted",), self.benchmarks.heads)

    def ranking(self, experiment: str) -> Ranking | None:
        return next((r for r in self.board.rankings if r.experiment == experiment), None)

    def board_by(self, benchmark: BenchmarkHead) -> Leaderboard:
        """The rankings of a minted benchmark; one without standings where none of its experiments has a run."""
        return self.keep(("benchmark", benchmark.name), lambda: self._ranker().of(benchmark))

    def _ranker(self, latest: int = 10) -> Ranker:
        known = [(e.run, e.summary) for e in self.entries]
        return Ranker(self.store, self.workspace.config, self.benchmarks, self.has_drafts, latest, known)

    @property
    def has_drafts(self) -> bool:
        """Whether runs of uncommitted changes are ranked: where nothing can be committed."""
        return self.keep(("drafts",), lambda: not has_commits(self.workspace.suite))

    @property
    def evals(self) -> Mapping[str, Eval]:
        """Of the suite as it is now, by id; empty where it cannot be read."""

        def read() -> Mapping[str, Eval]:
            try:
                return {e.id: e for e in load_suite(self.workspace.suite).evals}
            except UserError:
                return {}

        return self.keep(("evals",), read)

    @property
    def catalog(self) -> Mapping[str, ModelEntry]:
        """The models that have an entry, by slug."""
        return self.keep(("catalog",), lambda: {m.slug: m for m in load_catalog(self.workspace.home).entries})


def _run_stamps(root: Path) -> Iterator[Stamp]:
    """Of the folders of runs, which change where a file in them is replaced, and of their summaries."""
    folders = [root]
    for level in range(5):
        yield from map(_stamp, folders)
        if level < 4:
            folders = [Path(entry.path) for folder in folders for entry in _folders_in(folder)]
    yield from (_stamp(folder / SUMMARY_NAME) for folder in folders)


def _folders_in(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            found = [entry for entry in listed if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(found, key=lambda entry: entry.name)


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except OSError:
        return str(path), -1.0, -1.0
    return str(path), status.st_mtime, float(status.st_size)


class _Published(RunStore):
    """The runs that a deployment has, and no others."""

    def _folders(self, *known: str) -> list[Path]:
        return [folder for folder in super()._folders(*known) if _is_published(open_run(folder))]


def _is_published(run: Run) -> bool:
    """Whether at least one deployment has all of it."""
    folder = run.folder / LEDGERS
    ledgers = (read_record(folder / name, Publication, run.root) for name in confined.entries(folder, run.root))
    return any(
        len(ledger.trials) == run.plan.trials and all(t.state == "published" for t in ledger.trials)
        for ledger in ledgers
    )
