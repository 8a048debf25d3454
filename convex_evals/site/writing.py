"""What people write into a report on its page: the bytes of one marked place change, and no others."""

from __future__ import annotations

from dataclasses import dataclass

from convex_evals.errors import UserError
from convex_evals.reports.files import write
from convex_evals.reports.human_sections import with_place
from convex_evals.site import urls
from convex_evals.site.library import Library
from convex_evals.site.pages.reports import existing, places_of, report_paths
from convex_evals.text import spelled_out

_MOST_TEXT = 100_000  # characters of one place


@dataclass(frozen=True)
class Conflict:
    """Why nothing was saved; both texts, so that nothing is lost."""

    problem: str
    own: str
    there: str


def save(library: Library, page: str, place: str, digest: str, text: str) -> Conflict | str | None:
    """Write `text` into one place of the report that has the page; the place's id, or None where there is no report.

    `digest` is of what stood in it when it was read: of anything else nothing is overwritten. Raises `UserError` where
    the report cannot be written.
    """
    path = next((each for each in report_paths(library) if urls.report(each) == page), None)
    found = existing(library, path) if path else None
    if path is None or found is None or found.text is None:
        return None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if spelled_out(text) != text:
        raise UserError("it has characters that cannot be seen, or that reorder text; take them out")
    if len(text) > _MOST_TEXT:
        raise UserError(f"more than {_MOST_TEXT:,} characters; put them into a file, and link to it")
    own = next((each for each in places_of(found.text, path) if each.id == place), None)
    if own is None:
        return Conflict("This place is no longer in the report.", text, "")
    if own.text == text:
        return own.id
    if own.digest != digest:
        return Conflict("It was edited in the meantime, elsewhere.", text, own.text)
    write(found, with_place(found.text, own.key, text, str(found.path)))
    return own.id
