"""Reports: rendered from their Markdown, with the places that belong to people, which `cli view` lets them write."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from convex_evals.errors import UserError
from convex_evals.records import Counts
from convex_evals.reports.files import ExistingReport, Folder, read_existing
from convex_evals.reports.human_sections import SectionKey, Written, opening, parse, read_trailer
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.library import Library
from convex_evals.site.prose import to_html

_REPLY = re.compile(r"runs/([^/]+/[^/]+/[^/]+/[^/]+)/evals/([^/]+/[^/]+)/(\d+)\.md")
_RUN = re.compile(r"runs/([^/]+/[^/]+/[^/]+/[^/]+)(?:/.*)?")
_EVAL = re.compile(r"evals/([^/]+/[^/]+)(?:/.*)?")
_TITLES = {"notes": "Notes", "classification": "Decision"}


@dataclass(frozen=True)
class Place:
    """One place that belongs to people, as its page shows it."""

    key: SectionKey
    written: Written
    number: int

    @property
    def id(self) -> str:
        """Names it in a form, whatever its number is by then."""
        return hashlib.sha256(opening(self.key).encode()).hexdigest()[:16]

    @property
    def title(self) -> str:
        return f"{_TITLES[self.key.kind]}{f' on {self.key.eval}' if self.key.eval else ''}"

    @property
    def text(self) -> str:
        return self.written.text.replace("\r\n", "\n").removesuffix("\n")

    @property
    def digest(self) -> str:
        """Of what stands there, so that an edit of something else is noticed."""
        return hashlib.sha256(self.written.text.encode("utf-8", "surrogatepass")).hexdigest()


def report_paths(library: Library) -> Sequence[str]:
    """Of all reports, relative to their folder, newest first."""
    folder = Folder(library.reports_dir)

    def read() -> list[str]:
        found = [path.relative_to(folder.root).as_posix() for path in folder.all()]
        found = [path for path in found if path.isprintable()]  # others have no address
        return sorted(found, key=lambda path: (path[-13:-3], path), reverse=True)

    return library.keep_briefly(("reports",), read)


def reports_page(library: Library) -> Page:
    rows = [_row(library, path) for path in report_paths(library)]
    return Page(urls.REPORTS, "reports", "Reports", "Reports", {"rows": rows}, is_lasting=False)


def _row(library: Library, path: str) -> dict[str, Any]:
    """What its last line says, which may have been written by anyone; else what is wrong with it."""
    own = {"path": path, "place": urls.report(path), "problem": ""}
    try:
        data = read_trailer(read_existing(library.reports_dir / path, library.workspace.home) or "")
        if data is None:
            return {**own, "problem": "Its last line, which says what it is about, is not there."}
        said = {name: str(data[name] or "") for name in ("date", "run_id", "model", "experiment", "verdict")}
        numbers = {name: int(data[name]) for name in ("failures", "undecided")}
        return {**said, **numbers, "counts": Counts.model_validate(data["counts"]), **own}
    except UserError as error:
        return {**own, "problem": str(error)}
    except (KeyError, TypeError, ValueError):
        return {**own, "problem": "Its last line is not as `cli report` writes it; make the report again."}


def report_page(library: Library, path: str, note: str = "") -> Page | None:
    """None where there is no such report."""
    if path not in report_paths(library):
        return None
    text = read_existing(library.reports_dir / path, library.workspace.home)
    if text is None:
        return None
    problem, places = "", []
    try:
        places = places_of(text, path)
    except UserError as error:
        problem = str(error)
    data = read_trailer(text) or {}
    title = data.get("run_id")
    context = {
        "path": path,
        "pieces": _pieces(library, text, path, places),
        "problem": problem,
        "note": note,
        "run": _run_place(library, data, path),
        "title": title if isinstance(title, str) and title else path,
    }
    return Page(urls.report(path), "report", f"Report: {context['title']}", "Reports", context, is_lasting=False)


def places_of(text: str, path: str) -> list[Place]:
    """Raises `UserError` where it is not certain what people wrote."""
    document = parse(text, path)
    ordered = sorted(document.places.items(), key=lambda each: each[1].line)
    return [Place(key, written, n) for n, (key, written) in enumerate(ordered)]


def _pieces(library: Library, text: str, path: str, places: Sequence[Place]) -> list[Markup | Place]:
    """The report as HTML, in parts, with its places between them."""
    lines = text.removeprefix("\ufeff").split("\n")
    # Nothing in the text can be this.
    seal = f"place-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}-"
    for place in reversed(places):
        start = place.written.line - 1
        lines[start : start + place.written.text.count("\n")] = ["", f"{seal}{place.number}", ""]
    html = _rendered(library, "\n".join(lines), path)
    parts = re.split(f"<p>{seal}(\\d+)</p>", str(html))
    if len(parts) != 2 * len(places) + 1:  # one of them is inside of something else: then all as text
        return [_rendered(library, text, path), *places]
    return [places[int(part)] if at % 2 else Markup(part) for at, part in enumerate(parts)]


def _rendered(library: Library, text: str, path: str) -> Markup:
    return to_html(text, lambda link: _address(library, path, link), of_report=True)


def _address(library: Library, path: str, link: str) -> str | None:
    """The address of what a report links to, where that has a page."""
    target = posixpath.normpath(posixpath.join("reports", posixpath.dirname(path), link))
    own = urls.report(path)
    if found := _REPLY.fullmatch(target):
        entry = library.by_place.get(tuple(found[1].split("/")))
        return urls.href(urls.trials(entry.plan, found[2]), f"trial-{found[3]}", own) if entry else None
    if found := _RUN.fullmatch(target):
        entry = library.by_place.get(tuple(found[1].split("/")))
        return urls.href(urls.run(entry.plan), of=own) if entry else None
    if (found := _EVAL.fullmatch(target)) and found[1] in library.evals:
        return urls.href(urls.eval_page(found[1]), of=own)
    below = target.removeprefix("reports/")
    return urls.href(urls.report(below), of=own) if below in report_paths(library) else None


def _run_place(library: Library, data: Mapping[str, Any], path: str) -> str | None:
    parts = (*path.split("/")[:-1], str(data.get("date")), str(data.get("run_id")))
    entry = library.by_place.get(parts)
    return urls.run(entry.plan) if entry else None


def existing(library: Library, path: str) -> ExistingReport | None:
    """What stands in the file of a report that may be written; None where there is none."""
    if path not in report_paths(library):
        return None
    file: Path = library.reports_dir / path
    text = read_existing(file, library.workspace.home)
    return None if text is None else ExistingReport(file, library.workspace.home, text, parse(text, path))
