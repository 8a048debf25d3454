"""Records of JSON that other programs wrote, and what is taken from them whatever they hold."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from convex_evals.text import well_formed

Data = dict[str, Any]
# Of one reply: what is more is no number of tokens or dollars, and a thousand of them fit into a session's sum.
MOST_TOKENS = 10**12
_MOST_DOLLARS = 10**6


@dataclass(frozen=True, slots=True)
class Piece:
    """One record: a conversation, a message or a part of one."""

    raw: str
    value: Data | None  # None where it cannot be read


def piece(value: Any, **more: Any) -> Piece:
    """The record of a decoded value, `more` being what its place says of it."""
    if isinstance(value, dict):
        value = {**value, **more}
    raw = json.dumps(value, ensure_ascii=False)
    sound = well_formed(raw)
    if sound != raw:  # JSON can hold halves of characters, that no file can
        raw, value = sound, json.loads(sound)
    return Piece(raw, value if isinstance(value, dict) else None)


def as_object(value: Any) -> Data:
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """Text that is not empty."""
    return value if isinstance(value, str) and value else None


def as_natural(value: Any) -> int:
    """A number of tokens; 0 where it is none."""
    return int(value) if _is_amount(value, MOST_TOKENS) else 0


def as_cost(value: Any) -> float | None:
    """Dollars."""
    return float(value) if _is_amount(value, _MOST_DOLLARS) else None


def _is_amount(value: Any, most: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most
