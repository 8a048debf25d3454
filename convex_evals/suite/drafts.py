"""Lines in the files of an eval that say what a person still has to write: `cli sessions to-eval` leaves them."""

from __future__ import annotations

import re
from collections.abc import Iterator

# The session, and the number of the message in it.
_LINE = re.compile(r"^[^\w\n]{0,8}DRAFT ([0-9a-f]{8})(?:#(\d{1,9}))?: (.+)$", re.MULTILINE)


def draft_line(session_id: str, message: int | None, what: str) -> str:
    """A line that keeps an eval from being used, and says what to write in its place."""
    place = "" if message is None else f"#{message}"
    return f"DRAFT {session_id[:8]}{place}: {what}"


def left_to_write(text: str) -> Iterator[str]:
    """What is left of a draft in the text of a file, with the number of the line in front."""
    if "DRAFT " not in text:
        return
    for found in _LINE.finditer(text):
        number = text.count("\n", 0, found.start()) + 1
        place = f", message {found[2]}" if found[2] else ""
        yield f"{number}: {found[3].rstrip()} (session {found[1]}{place})"


def without_draft_lines(text: str) -> str:
    """The text as a model may see it, or write it: only people say that something is left to do, or done."""
    return "\n".join(line for line in text.split("\n") if not _LINE.match(line))
