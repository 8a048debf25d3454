"""Text files read the same way everywhere, text of others made visible, and the wording of numbers."""

from __future__ import annotations

import codecs
import os
import re
import stat
import unicodedata
import warnings
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path

from convex_evals.errors import UserError

# Invisible. Reports and comments part with it what GitHub would make a link of: see render/markdown.py.
JOINER = "\u2060"
_SUSPECT = re.compile(r"[^\x20-\x7e\n\t]+")
# Python takes these for printable, and nothing of them is seen: fillers, joiners, selectors of variants, blanks.
_UNSEEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00016fe4"
    + "".join(map(chr, [*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)]))
)
# Marks above and below one letter that a script may need; more of them draw over the lines around.
_MOST_MARKS = 4
# Where printed text becomes a CI log, these are commands: `::name::` at the beginning of a line and `##[name]` anywhere
# (GitHub), `##vso[` (Azure) and `##teamcity[` anywhere, `section_start:` (GitLab).
_COMMAND = re.compile(r"^[^\S\n]*(?=::)|##(?=\w*\[)|section_(?:start|end)(?=:)", re.MULTILINE)
_MOST_BYTES = 64 * 1024 * 1024
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


def read_text(path: Path) -> str:
    """The text with LF line ends and without a byte order mark.

    Raises `UserError` where it is missing, unreadable, not UTF-8, endless (a pipe, a device) or too large.
    """
    try:
        # A pipe would wait for a writer.
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UserError(f"{path}: not a file")
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise UserError(f"{path}: more than {_MOST_BYTES:,} bytes")
        return decoded(data, path).replace("\r\n", "\n")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def decoded(data: bytes, where: str | Path, *, keep_mark: bool = False) -> str:
    """As UTF-8, without a byte order mark unless it is kept. Raises `UserError`."""
    try:
        # Python's codec for this, `utf-8-sig`, is written in Python.
        return (data if keep_mark else data.removeprefix(codecs.BOM_UTF8)).decode()
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def well_formed(text: str) -> str:
    """With halves of surrogate pairs joined where both are there, and U+FFFD for those that stand alone.

    JSON can hold halves, and a stream may cut a pair in two; UTF-8, and so every file, can hold pairs only.
    """
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def spelled_out(text: str, keep: str = "") -> str:
    """With what cannot be seen spelled out, line ends, tabs and the characters of `keep` aside.

    These are control characters, what reorders text (bidirectional marks), invisible ones, halves of surrogate pairs,
    and more combining marks on a letter than any script has.
    """
    # True of most texts, and told in a quarter of the time that the expression takes.
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _SUSPECT.sub(lambda found: _spelled_out(found[0], keep), text)


def _spelled_out(run: str, keep: str) -> str:
    shown, marks = [], 0
    for character in run:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        seen = character.isprintable() and character not in _UNSEEN and marks <= _MOST_MARKS
        shown.append(character if seen or character in keep else f"\\x{ord(character):02x}")
    return "".join(shown)


def printable(text: str, keep: str = "") -> str:
    """As `spelled_out`, and with a backslash inside what a CI system takes for a command.

    Text of others must neither steer a terminal nor a CI log. Doing it twice changes nothing more.
    """
    return _COMMAND.sub(r"\g<0>\\", spelled_out(text, keep))


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """`1 eval`, `2 evals`; `nouns` is the plural of one that does not take an `s`."""
    return f"{number} {plural(number, noun) if nouns is None or number == 1 else nouns}"


def plural(number: int, noun: str) -> str:
    """The form of a noun, that takes an `s`, behind this number."""
    return noun if number == 1 else f"{noun}s"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def capitalized(text: str) -> str:
    """With its first letter as a capital; the others stay."""
    return text[:1].upper() + text[1:]


def shortened(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis: `most` characters together."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def without_enclosed(text: str, opening: str, closing: str) -> list[str]:
    """The parts of `text` around what stands between `opening` and `closing`, which go with it.

    In linear time, where a regular expression would search for the end of each one again.
    """
    parts, at = [], 0
    while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
        parts.append(text[at:start])
        at = end + len(closing)
    return [*parts, text[at:]]


def and_more(number: int, of: str = "more") -> str:
    """` (and 2 more)` behind the first of several; nothing where there is no other."""
    return f" (and {number} {of})" if number > 0 else ""


def compiled(option: str, given: str, pattern: str | None = None) -> re.Pattern[str]:
    """The regular expression that was given as `option`; `pattern` is the part of it that is one.

    Raises `UserError` where it is none.
    """
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            return re.compile(given if pattern is None else pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise UserError(f"{option} {given!r}: not a regular expression: {error}") from None


def one_line(text: str) -> str:
    """With its lines joined by blanks."""
    return " ".join(filter(None, map(str.strip, text.split("\n"))))


def http_date(header: str) -> float | None:
    """Return the time that a header such as Date gives, in seconds since 1970; None where it gives none."""
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(header)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
