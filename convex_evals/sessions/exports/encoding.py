"""JSON as exports hold it."""

from __future__ import annotations

import json
import re
from typing import Any

from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.text import well_formed

# Line ends to some readers, and commands to some terminals. JSON itself escapes those below U+0020.
_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029]")
_LIMITS = Limits(size=64 * 1024 * 1024, values=1_000_000, depth=200)


def to_json(value: Any) -> str:
    """`value` on one line, whatever a reader takes for the end of one."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", well_formed(text))


def to_line(value: Any) -> bytes:
    """A line of JSON Lines."""
    return (to_json(value) + "\n").encode()


def arguments_of(text: str) -> tuple[dict[str, Any], bool]:
    """The arguments of a call as an object, and whether they are one.

    Where a model wrote something else, its text becomes the value of `input`.
    """
    try:
        return decode_object(text or "{}", _LIMITS), True
    except ValueError:
        return {"input": text}, False
