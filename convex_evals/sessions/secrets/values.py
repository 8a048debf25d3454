"""Texts and keys of JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def free_key(key: str, *taken: dict[Any, Any]) -> str:
    """`key`, or with a number behind it where an object has it already."""
    number, free = 1, key
    while any(free in each for each in taken):
        number += 1
        free = f"{key} ({number})"
    return free


def texts_in(value: Any) -> Iterator[str]:
    """All texts in a JSON value, keys included."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            left += (*value, *value.values())
        elif isinstance(value, list | tuple):
            left += value
