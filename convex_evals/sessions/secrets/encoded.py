"""Parts of a text that hold another text: percent-encoded, as in an address, or in base64."""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from convex_evals.sessions.secrets.spans import HOME_FOLDER, SecretSpan

_RANK = 6
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_WORD = re.compile(r"[^\s\"'`<>\\]++")
# One line, or the lines that a longer one is broken into; `\n` is spelled out in JSON.
_BASE64 = re.compile(
    r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}+"
    r"(?:(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)[A-Za-z0-9+/]{60,76}+)*+"
    r"(?:(?:\r?\n|(?:\\{1,8}r)?\\{1,8}n)[A-Za-z0-9+/]{1,76}={0,2})?={0,2}"
)
_LINE_END = re.compile(r"\r?\n|(?:\\{1,8}r)?\\{1,8}n")
_STANDARD = str.maketrans("+/", "-_")
_GLANCE = 24  # characters, which say whether this is text


@dataclass(frozen=True, slots=True)
class DecodedPart:
    """What a part of a text says, decoded."""

    start: int
    end: int
    text: str
    escapes: tuple[int, ...] | None = None  # places in `text` that took three characters; None where all is one

    def outer(self, span: SecretSpan) -> SecretSpan:
        """Where a secret of this part stands in the text around it: all of the part, where it cannot be told."""
        if self.escapes is None:
            # A part that is no path any more is no folder.
            kind = "encoded-text" if span.kind == HOME_FOLDER else span.kind
            return SecretSpan(self.start, self.end, kind, span.rank + _RANK)
        start, end = (self.start + at + 2 * bisect_left(self.escapes, at) for at in (span.start, span.end))
        return span._replace(start=start, end=end)


def encoded_parts(text: str) -> Iterator[DecodedPart]:
    """All parts that hold another text. Takes time that is linear in the text."""
    if "%" in text and _ESCAPE.search(text):
        for word in _WORD.finditer(text):
            if "%" in word[0]:
                yield from _percent_encoded(word)
    for run in _BASE64.finditer(text):
        if _is_text(run[0][:_GLANCE]):
            encoded = _LINE_END.sub("", run[0]).rstrip("=")
            yield DecodedPart(*run.span(), _decoded(encoded).decode("utf-8", "replace"))


def _percent_encoded(word: re.Match[str]) -> Iterator[DecodedPart]:
    places = tuple(escape.start() - 2 * number for number, escape in enumerate(_ESCAPE.finditer(word[0])))
    if places:
        yield DecodedPart(*word.span(), _ESCAPE.sub(lambda escape: chr(int(escape[0][1:], 16)), word[0]), places)


def _is_text(encoded: str) -> bool:
    """Whether this is UTF-8, but for a character that is cut off."""
    data = _decoded(encoded)
    text = data.decode("utf-8", "ignore").encode()
    return data.startswith(text) and len(data) - len(text) < 4


def _decoded(encoded: str) -> bytes:
    whole = encoded.translate(_STANDARD)[: len(encoded) - (len(encoded) % 4 == 1)]
    return urlsafe_b64decode(whole + "=" * (-len(whole) % 4))
