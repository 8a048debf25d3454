"""JSON in one line for readers who take more than a line feed for the end of one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from convex_evals.text import well_formed

# Line ends to some readers, and commands to some terminals. JSON itself escapes those below U+0020.
_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029]")


def to_json(value: Any) -> str:
    """`value` on one line, whatever a reader takes for the end of one."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", well_formed(text))


def to_list(items: Iterable[str]) -> Iterator[str]:
    """Yield a JSON list, a piece for each of `items`, which are JSON and stand on a line each."""
    before = "[\n"
    for item in items:
        yield before + item
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


def to_line(value: Any) -> bytes:
    """A line of JSON Lines."""
    return (to_json(value) + "\n").encode()
