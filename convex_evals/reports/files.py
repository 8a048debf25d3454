"""Reports as files: `reports/<provider>/<model>/<run id>_<date>.md`, and their index."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from convex_evals.errors import UserError
from convex_evals.inputs.confined import entries, read_bytes
from convex_evals.records import Counts, RunPlan
from convex_evals.render.markdown import cell, code
from convex_evals.render.numbers import percent, two_intervals
from convex_evals.reports.classify import Decision, decisions
from convex_evals.reports.human_sections import Document, parse, read_trailer
from convex_evals.store.files import MOST_TEXT, write_atomic
from convex_evals.store.paths import slug_folders
from convex_evals.text import decoded

INDEX = "README.md"
_REPORT_NAME = re.compile(r".*_\d{4}-\d\d-\d\d\.md")
_INDEX_HEAD = (
    "# Reports",
    "",
    "Made by `cli report --index`; nothing needs it. Regenerate it where it conflicts in a merge.",
    "",
    "| date | model | experiment | passed | pass rate | 95 % interval (these evals) | against the run before "
    "| failures |",
    "|---|---|---|--:|--:|--:|---|---|",
)
# Lines of conflicts are in it where a merge did not follow .gitattributes.
_INDEX_ROW = re.compile(r"\| \[[^\]]*\]\(|<<<<<<<|=======$|>>>>>>>|\|\|\|\|\|\|\|")


@dataclass(frozen=True)
class ExistingReport:
    """What stands at a report's path before it is written."""

    path: Path
    root: Path  # nothing below it is read or written through a link
    text: str | None  # with its own line ends
    document: Document | None


@dataclass(frozen=True)
class Folder:
    """All reports of a repository."""

    root: Path

    def path(self, plan: RunPlan) -> Path:
        return self.root.joinpath(*slug_folders(plan.model), f"{plan.run_id}_{plan.date}.md")

    def all(self) -> Iterator[Path]:
        folders = [self.root]
        for _ in range(2):
            folders = [f / name for f in folders for name, kind in self._entries(f).items() if kind == "folder"]
        return (f / name for f in folders for name in self._entries(f) if _REPORT_NAME.fullmatch(name))

    def _entries(self, folder: Path) -> dict[str, str]:
        return entries(folder, self.root.parent)

    def decisions(self) -> tuple[list[Decision], dict[Path, str]]:
        """What people decided in any report, and why some reports cannot be read."""
        found: list[Decision] = []
        unread: dict[Path, str] = {}
        for path in self.all():
            try:
                text = read_existing(path, self.root.parent) or ""
                if "<!-- human: classification" in text:
                    name = path.relative_to(self.root.parent).as_posix()
                    found += decisions(parse(text, str(path)).places.items(), name, path.stem.rpartition("_")[2])
            except UserError as error:
                unread[path] = str(error)
        return found, unread

    def index(self) -> str:
        """The text of the index, from the last line of each report.

        Raises `UserError` where a file is there that was not generated.
        """
        self._refuse_own_index()
        rows = []
        for path in self.all():
            data = read_trailer(read_existing(path, self.root.parent) or "")
            if data is not None and (row := _row(data, path.relative_to(self.root).as_posix())):
                rows.append(row)
        return "\n".join([*_INDEX_HEAD, *sorted(rows, reverse=True)]) + "\n"

    def _refuse_own_index(self) -> None:
        path = self.root / INDEX
        for number, line in enumerate((read_existing(path, self.root.parent) or "").splitlines(), 1):
            if line.strip() and line not in _INDEX_HEAD and not _INDEX_ROW.match(line):
                raise UserError(
                    f"{path}:{number}: was not written by `cli report --index`, which would overwrite it; move it away"
                )


def read(path: Path, plan: RunPlan, home: Path) -> ExistingReport:
    """What stands where the report on a run is to be: below `home`, or wherever the user said.

    Raises `UserError` where what people wrote in it cannot be told, or is about another run.
    """
    root = home if path.is_relative_to(home) else path.parent
    text = read_existing(path, root)
    document = None if text is None else parse(text, str(path))
    if document and (about := document.data.get("run_id")) != plan.run_id:
        raise UserError(
            f"{path}: is the report on {about}, and what people decided there is not about {plan.run_id}; "
            "give another file, or move it away"
        )
    return ExistingReport(path, root, text, document)


def write(found: ExistingReport, text: str) -> bool:
    """Put `text` in the place of what was `found`; whether that is something new. Raises `UserError`."""
    now = read_existing(found.path, found.root)
    if now != found.text:
        raise UserError(f"{found.path}: was edited in the meantime; run the command again")
    if now == text:
        return False
    write_atomic(found.path, text, found.root)
    return True


def read_existing(path: Path, root: Path) -> str | None:
    """The text of a report or index with its own line ends; None where there is none. Raises `UserError`."""
    data = read_bytes(path, root, MOST_TEXT)
    return None if data is None else decoded(data, path, keep_mark=True)


def _row(data: dict[str, Any], path: str) -> str | None:
    """One report's line; None where its last line says something else than we wrote."""
    try:
        counts = Counts.model_validate(data["counts"])
        intervals = two_intervals(*map(_ends, data["intervals"]))
        failures, undecided = int(data["failures"]), int(data["undecided"])
        synthetic = " (synthetic)" if data["synthetic"] else ""
        model, experiment = cell(f"{data['model']}{synthetic}"), cell(str(data["experiment"]))
        verdict = cell(str(data["verdict"] or ""))
        date = f"[{cell(str(data['date']))}]({quote(path)})"
    except (KeyError, TypeError, ValueError):
        return None
    open_ = f"{failures}, {undecided} undecided" if undecided else str(failures)
    figures = f"{counts.passed} of {counts.scored} | {percent(counts)} | {intervals}"
    run = code(str(data["run_id"]), in_table=True)
    return f"| {date} {run} | {model} | {experiment} | {figures} | {verdict} | {open_} |"


def _ends(found: list[float]) -> tuple[float, float]:
    """Raises `TypeError` and `ValueError` where that is no interval of a rate."""
    low, high = found
    if not 0 <= low <= high <= 1:
        raise ValueError("not an interval of shares of 1")
    return low, high
