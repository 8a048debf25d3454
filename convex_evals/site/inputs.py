"""What a page of the site is made of, as a hash: where it is the same, the page is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import metadata
from pathlib import Path

from convex_evals import __version__
from convex_evals.config import CONFIG_NAME
from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.inputs.suite_files import read_inside
from convex_evals.models.catalog import MODELS_NAME
from convex_evals.records.hashes import sha256_parts
from convex_evals.site import urls
from convex_evals.site.library import Entry, Library
from convex_evals.site.pages.compare import offered
from convex_evals.site.pages.guidelines import steps, versions
from convex_evals.site.pages.reports import report_paths
from convex_evals.site.pages.runs import report_place
from convex_evals.site.pages.trials import models_with
from convex_evals.store.files import MOST_TEXT
from convex_evals.store.run import PLAN_NAME, PRUNED_NAME, SUMMARY_NAME
from convex_evals.store.validations import VALIDATION_NAME
from convex_evals.suite.suite import Eval

_PACKAGE = Path(__file__).parent
_KINDS = ("*.py", "*.j2", "*.css", "*.js", "*.svg")
_LIBRARIES = ("jinja2", "markdown-it-py", "markupsafe", "pygments")


class PageInputs:
    """Hashes of what pages are made of, for one way of writing them."""

    def __init__(self, library: Library, *options: str) -> None:
        self._library = library
        self._options = options
        self._runs: dict[Path, str] = {}
        self._sources: dict[str, str] = {}

    @cached_property
    def _code(self) -> str:
        """What makes the pages: this tool with its templates, and the libraries that write HTML."""
        tops = [top for top in _PACKAGE.parent.iterdir() if top.is_dir() and top.name != "node"]
        paths = sorted(p for top in tops for kind in _KINDS for p in top.rglob(kind) if "client" not in p.parts)
        parts = [part for p in paths for part in (p.name, p.read_text(encoding="utf-8"))]
        return sha256_parts([__version__, *map(metadata.version, _LIBRARIES), *self._options, *parts])

    def of_trials(self, entry: Entry, eval_id: str) -> str | None:
        """Of the page on one eval of a run: the files of a complete run never change, and its summary names them.

        None where it is not complete.
        """
        if entry.summary is None or entry.summary.missing:
            return None
        models = models_with(self._library, entry, eval_id)
        return sha256_parts([self._code, self._run(entry), self._source(eval_id), models.sha256])[:24]

    def of_run(self, entry: Entry) -> str | None:
        """Of a run's own page; None where it is not complete, and depends on today's suite and settings, too."""
        if entry.summary is None or entry.summary.missing:
            return None
        siblings = [urls.run(e.plan) for e in self._library.of_model(entry.plan.model)]
        at = siblings.index(urls.run(entry.plan))
        beside = siblings[max(0, at - 1) : at + 2]
        report = report_place(self._library, entry) or ""
        return sha256_parts([self._code, self._run(entry), *beside, report])[:24]

    def of_all(self) -> str:
        """Of everything."""
        return sha256_parts([self._code, *self._everything()])

    def _everything(self) -> Iterator[str]:
        library = self._library
        home = library.workspace.home
        yield from (self._run(entry) for entry in library.entries)
        yield from library.left_out
        yield from (self._source(eval_id) for eval_id in library.evals)
        yield str(library.has_drafts)
        yield from (_hash(_bytes(library.benchmarks.path(head.name), home)) for head in library.minted)
        yield from (
            _hash(_bytes(folder / VALIDATION_NAME, library.store.root)) for folder in library.store.validations()
        )
        for path in (home / MODELS_NAME, library.workspace.suite / CONFIG_NAME):
            yield _hash(_bytes(path, path.parent))
        yield from (f"{path} {_hash(_bytes(library.reports_dir / path, home))}" for path in report_paths(library))
        for name in library.workspace.config.experiments:
            found = versions(library, name)
            yield from (
                f"{each.sha256} {each.version.commit} {each.date} {each.subject} {each.version.prompt}"
                for each in found
            )
            # Comments, which models do not get, name the evals of rules.
            yield from (_hash((each.version.text or "").encode()) for each in found)
        yield from (read_inside(library.workspace.suite, path) for path in library.guidelines_files)
        yield from (f"{before.sha256} {after.sha256}" for _, before, after in steps(library))
        yield from (urls.comparison(a.plan, b.plan) for _, a, b in offered(library))

    def _run(self, entry: Entry) -> str:
        """Of a run's own files. One that is not complete is read each time."""
        folder = entry.run.folder
        if folder not in self._runs:
            names = (PLAN_NAME, SUMMARY_NAME, PRUNED_NAME)
            parts = [_hash(_bytes(folder / name, entry.run.root)) for name in names]
            if entry.summary is None or entry.summary.missing:
                parts += entry.done
            self._runs[folder] = sha256_parts([str(folder.relative_to(entry.run.root)), *parts])
        return self._runs[folder]

    def _source(self, eval_id: str) -> str:
        """Of an eval as the suite has it."""
        if eval_id not in self._sources:
            own = self._library.evals.get(eval_id)
            parts = [] if own is None else [own.config.concept, *own.config.tags]
            parts += [part for read in _SOURCES for part in _read(read, own)] if own else []
            self._sources[eval_id] = sha256_parts([eval_id, *parts])
        return self._sources[eval_id]


def _read(read: Callable[[Eval], list[str]], own: Eval) -> list[str]:
    """What it says, or why it cannot be read."""
    try:
        return ["", *read(own)]
    except UserError as error:
        return [str(error)]


def _task(own: Eval) -> list[str]:
    return [own.task]


def _grader(own: Eval) -> list[str]:
    return [own.grader_text]


def _answer(own: Eval) -> list[str]:
    return [part for each in own.answer().files.items() for part in each]


# Hashed separately: one that cannot be read must not hide an edit of another.
_SOURCES = (_task, _grader, _answer)


def _bytes(path: Path, root: Path) -> bytes:
    return confined.read_bytes(path, root, MOST_TEXT) or b""


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
