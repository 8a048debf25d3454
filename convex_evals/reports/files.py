"""Reports as files: `reports/<provider>/<model>/<run id>_<date>.md`, and their index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from convex_evals.errors import UserError
from convex_evals.markdown import cell, code
from convex_evals.records import Counts, RunPlan
from convex_evals.reports.classify import Decision, decisions
from convex_evals.reports.places import Document, parse, read_trailer
from convex_evals.results import interval, percent
from convex_evals.store.files import write_atomic
from convex_evals.store.paths import slug_folders

INDEX = "README.md"
_INDEX_HEAD = (
    "# Reports",
    "",
    "Made by `cli report --index`; nothing needs it. Make it anew where it is in the way of a merge.",
    "",
    "| date | model | experiment | passed | pass rate | 95 % interval | against the run before | failures |",
    "|---|---|---|--:|--:|--:|---|---|",
)
# Lines of conflicts are in it where a merge did not follow .gitattributes.
_INDEX_ROW = re.compile(r"\| \[[^\]]*\]\(|<<<<<<<|=======$|>>>>>>>|\|\|\|\|\|\|\|")


@dataclass(frozen=True)
class Found:
    """What stands at a report's path before it is written."""

    path: Path
    text: str | None  # with its own line ends
    document: Document | None


@dataclass(frozen=True)
class Folder:
    """All reports of a repository."""

    root: Path

    def path(self, plan: RunPlan) -> Path:
        return self.root.joinpath(*slug_folders(plan.model), f"{plan.run_id}_{plan.date}.md")

    def all(self) -> Iterator[Path]:
        return iter(sorted(self.root.glob("*/*/*_????-??-??.md")))

    def decisions(self) -> tuple[list[Decision], dict[Path, str]]:
        """What people decided in any report, and why some reports cannot be read."""
        found: list[Decision] = []
        unread: dict[Path, str] = {}
        for path in self.all():
            try:
                text = _read(path) or ""
                if "<!-- human: classification" in text:
                    name = path.relative_to(self.root.parent).as_posix()
                    found += decisions(parse(text, str(path)).places.items(), name, path.stem.rpartition("_")[2])
            except UserError as error:
                unread[path] = str(error)
        return found, unread

    def index(self) -> str:
        """The text of the index, from the last line of each report.

        Raises `UserError` where the file that stands there is somebody's own.
        """
        self._refuse_own_index()
        rows = []
        for path in self.all():
            data = read_trailer(_read(path) or "")
            if data is not None and (row := _row(data, path.relative_to(self.root).as_posix())):
                rows.append(row)
        return "\n".join([*_INDEX_HEAD, *sorted(rows, reverse=True)]) + "\n"

    def _refuse_own_index(self) -> None:
        path = self.root / INDEX
        for number, line in enumerate((_read(path) or "").splitlines(), 1):
            if line.strip() and line not in _INDEX_HEAD and not _INDEX_ROW.match(line):
                raise UserError(
                    f"{path}:{number}: was not written by `cli report --index`, which would overwrite it; move it away"
                )


def read(path: Path, plan: RunPlan) -> Found:
    """What stands where the report on a run is to be.

    Raises `UserError` where what people wrote in it cannot be told, or is about another run.
    """
    text = _read(path)
    document = None if text is None else parse(text, str(path))
    if document and (about := document.data.get("run_id")) != plan.run_id:
        raise UserError(
            f"{path}: is the report on {about}, and what people decided there is not about {plan.run_id}; "
            "give another file, or move it away"
        )
    return Found(path, text, document)


def write(found: Found, text: str) -> bool:
    """Put `text` in the place of what was `found`; whether that is something new. Raises `UserError`."""
    now = _read(found.path)
    if now != found.text:
        raise UserError(f"{found.path}: was edited meanwhile; give the command again")
    if now == text:
        return False
    write_atomic(found.path, text)
    return True


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def _row(data: dict[str, Any], path: str) -> str | None:
    """One report's line; None where its last line says something else than we wrote."""
    try:
        counts = Counts.model_validate(data["counts"])
        failures, undecided = int(data["failures"]), int(data["undecided"])
        synthetic = " (synthetic)" if data["synthetic"] else ""
        model, experiment = cell(f"{data['model']}{synthetic}"), cell(str(data["experiment"]))
        verdict = cell(str(data["verdict"] or ""))
        date = f"[{cell(str(data['date']))}]({quote(path)})"
    except (KeyError, TypeError, ValueError):
        return None
    open_ = f"{failures}, {undecided} undecided" if undecided else str(failures)
    figures = f"{counts.passed} of {counts.scored} | {percent(counts)} | {interval(counts)}"
    run = code(str(data["run_id"]), in_table=True)
    return f"| {date} {run} | {model} | {experiment} | {figures} | {verdict} | {open_} |"
