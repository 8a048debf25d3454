"""The places of a report that belong to people: found again, and kept byte for byte. Pure.

A place is what stands between two lines, `<!-- human: KIND ... -->` and `<!-- /human -->`. The last line of a report
counts the places and has a digest of everything around them, so that words written elsewhere are not lost either.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from convex_evals.errors import UserError
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.text import JOINER

GENERAL = "notes"
KINDS = ("classification", "notes")  # of one failure
_OPEN = re.compile(r"<!-- human: (notes|classification)(?: (\S+) (\d{1,9}) (\S+))? -->[ \t]*\r?")
_CLOSE = re.compile(r"<!-- /human -->[ \t]*\r?")
_LIKE = re.compile(r"<!--[ \t]{0,9}/?[ \t]{0,9}human\b|/human[ \t]{0,9}-->", re.IGNORECASE)
_TRAILER = re.compile(r"<!-- report: (\{.*\}) -->[ \t]*\r?")
_LIMITS = Limits(size=4_000_000)
_RESTORE = "restore the line from Git, or move the file away"


@dataclass(frozen=True)
class SectionKey:
    """Which place it is. `eval` and `signature` are empty for the notes on the whole."""

    kind: str  # notes or classification
    eval: str = ""
    signature: str = ""


@dataclass(frozen=True)
class Written:
    """What stands in a place."""

    text: str  # with its line ends, as it is in the file
    line: int  # of its first character
    trial: int

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


@dataclass(frozen=True)
class Document:
    """A report as it was read."""

    places: Mapping[SectionKey, Written]
    data: Mapping[str, Any]  # of the trailer
    crlf: bool


def opening(place: SectionKey, trial: int = 0) -> str:
    """The line before a place."""
    if not place.eval:
        return f"<!-- human: {place.kind} -->"
    return f"<!-- human: {place.kind} {_word(place.eval)} {trial} {_word(place.signature)} -->"


CLOSING = "<!-- /human -->"
_FENCE = re.compile(r"```|~~~")
# A code fence that a person leaves open would swallow what follows. Where one is open, the bare fence below ends it;
# where none is, all of this is comments.
_FENCES_END = """<!-- a code fence that is still open ends here
````````````````````
<!-- -->
<!--
~~~~~~~~~~~~~~~~~~~~
<!-- -->"""


def closing(text: str) -> str:
    """The lines after a place in which `text` stands: one, unless it has a code fence."""
    return f"{CLOSING}\n{_FENCES_END}" if _FENCE.search(text) else CLOSING


def trailer(text: str, data: Mapping[str, Any]) -> str:
    """The last line of a report whose other lines are `text`."""
    places, around = _split(text, "report")
    whole = json.dumps({**data, "places": len(places), "digest": _digest(around)}, sort_keys=True)
    return "<!-- report: " + whole.replace("<", "\\u003c").replace(">", "\\u003e") + " -->\n"


def parse(text: str, name: str) -> Document:
    """The places of the report `text`, which stands in the file `name`.

    Raises `UserError`, with the line, where it is not certain what people wrote.
    """
    places, around = _split(text, name)
    data = read_trailer(text)
    if data is None:
        raise UserError(f"{name}: its last line, `<!-- report: ... -->`, is not there; {_RESTORE}")
    if data.get("places") != len(places):
        raise UserError(
            f"{name}: {len(places)} of {data.get('places')} marked places are left; restore their lines from Git, "
            "or move the file away"
        )
    if data.get("digest") != _digest(around):
        raise UserError(
            f"{name}: was edited outside of the marked places; move what was written there into one and restore the "
            "rest from Git, or move the file away"
        )
    return Document(places, data, "\r\n" in text.partition("<!-- human")[0])


def with_place(text: str, place: SectionKey, written: str, name: str) -> str:
    """The report `text` with other words in one place, and every other byte as it was.

    `written` gets the line ends of the report. Raises `UserError` where that place is not there, or where the words
    would be taken for marks.
    """
    document = parse(text, name)
    if place not in document.places:
        raise UserError(f"{name}: this place is not there any more; read the report again")
    newline = "\r\n" if document.crlf else "\n"
    words = "".join(f"{line}{newline}" for line in written.replace("\r\n", "\n").split("\n")) if written else ""
    lines = text.split("\n")
    own = document.places[place]
    start = own.line - 1
    end = start + own.text.count("\n")
    whole = "\n".join([*lines[:start], *words.split("\n")[:-1], *lines[end:]])
    after = parse(whole, name).places
    if after.keys() != document.places.keys() or after[place].text != words:
        raise UserError(f"{name}: a line of these words looks like the mark of a place; write it otherwise")
    return whole


def read_trailer(text: str) -> dict[str, Any] | None:
    """What the last line says; None where it is not a report's."""
    last = text.rstrip().rpartition("\n")[2]
    found = _TRAILER.fullmatch(last)
    try:
        data = decode(found[1], _LIMITS) if found else None
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


def _split(text: str, name: str) -> tuple[dict[SectionKey, Written], str]:
    """Places, and what is around them."""
    text = text.removeprefix("\ufeff")
    places: dict[SectionKey, Written] = {}
    around: list[str] = []
    place: SectionKey | None = None
    begun = trial = 0
    inside: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        opened, closed = _OPEN.fullmatch(line), _CLOSE.fullmatch(line)
        if place is not None and closed:
            places[place] = Written("\n".join([*inside, ""]) if inside else "", begun + 1, trial)
            place, inside = None, []
        elif opened and place is not None:
            raise UserError(
                f"{name}:{number}: a marked place begins inside of the one of line {begun}; put `{CLOSING}` on a line "
                "of its own before it, or move the file away"
            )
        elif opened:
            place, begun, trial = _place(opened), number, int(opened[3] or 0)
            if place in places:
                raise UserError(
                    f"{name}:{number}: this marked place appears twice, first in line {places[place].line - 1}; "
                    "join the two, or move the file away"
                )
        elif _LIKE.search(line) and (place is None or not closed):
            raise UserError(f"{name}:{number}: a broken mark of a place; {_RESTORE}")
        elif place is not None:
            inside.append(line)
        if place is None or opened:
            around.append(line)
    if place is not None:
        raise UserError(
            f"{name}:{begun}: this marked place has no end; put `{CLOSING}` on a line of its own after it, or move the "
            "file away"
        )
    return places, "\n".join(around)


def _place(found: re.Match[str]) -> SectionKey:
    return SectionKey(found[1], unquote(found[2] or ""), unquote(found[4] or ""))


def _digest(around: str) -> str:
    """Of the words alone: editors change white space."""
    kept = [line for line in around.split("\n") if not _TRAILER.fullmatch(line)]
    return hashlib.sha256(" ".join(" ".join(kept).split()).encode()).hexdigest()[:16]


def _word(text: str) -> str:
    """As one word that ends no comment."""
    return quote(text, safe="/:@._-", errors="replace").replace("--", "-%2D")


def harmless(text: str) -> str:
    """Without anything that could be taken for a mark of a place, a word joiner in its middle."""
    return _LIKE.sub(lambda c: re.sub("(?i)hu(?=man)", lambda h: h[0] + JOINER, c[0]), text)
