"""Places in a text that hold a secret, and what is written there instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

HOME_FOLDER, EMAIL, NOT_SCANNED = "home-folder", "email", "not-scanned"
_MARKER = r"\[(?:REDACTED:[a-z-]{2,30}|NOT SCANNED: [A-Za-z0-9/.+, -]{1,80})\]"
MARKER = re.compile(_MARKER)
MARKERS = re.compile(f"(?:{_MARKER})+")
MARKER_STARTS = ("[REDACTED:", "[NOT SCANNED:")


class SecretSpan(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    kind: str
    rank: int = 0  # where two overlap, the lower one names the kind

    @property
    def replacement(self) -> str:
        return "~" if self.kind == HOME_FOLDER else redacted(self.kind)


Finder = Callable[[str], Iterator[SecretSpan]]


def redacted(kind: str) -> str:
    return f"[REDACTED:{kind}]"


def not_scanned(reason: str) -> str:
    return f"[NOT SCANNED: {reason}]"


def merged(spans: Iterable[SecretSpan]) -> list[SecretSpan]:
    """In order, those that overlap joined, so that nothing of any of them is left."""
    joined: list[SecretSpan] = []
    for span in sorted(spans):
        if joined and span.start < joined[-1].end:
            last = joined[-1]
            kind, rank = min((last.rank, last.kind), (span.rank, span.kind))[::-1]
            joined[-1] = SecretSpan(last.start, max(last.end, span.end), kind, rank)
        else:
            joined.append(span)
    return joined


def replaced(text: str, spans: Iterable[SecretSpan]) -> str:
    """`text` with each of `spans`, which are in order and apart, replaced."""
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], span.replacement)
        at = span.end
    return "".join((*parts, text[at:]))
