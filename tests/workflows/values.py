"""The values of GitHub's expressions, which are those of JSON: how they are converted, compared and looked into."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

Function = Callable[..., Any]
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class ExpressionError(Exception):
    """What GitHub would refuse."""


class _Filtered(list[Any]):
    """The values that `.*` made of an object or a list: the next property is taken of each."""


def is_true(value: Any) -> bool:
    return not (
        value is None or value is False or value == "" or (_is_number(value) and (value == 0 or value != value))
    )


def to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if _is_number(value):
        return format(value, ".15g")
    return value if isinstance(value, str) else "Array" if isinstance(value, list) else "Object"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def to_number(value: Any) -> float:
    if value is None or isinstance(value, bool):
        return float(bool(value))
    if _is_number(value):
        return float(value)
    if not isinstance(value, str):
        return math.nan
    text = value.strip()
    try:
        return float(int(text, 0)) if text[:2] in ("0x", "0o") else float(text or 0)
    except ValueError:
        return math.nan


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "number" if _is_number(value) else "string" if isinstance(value, str) else "object"


def is_equal(left: Any, right: Any) -> bool:
    """Loosely: texts by letters alone, what differs in type as numbers, objects only with themselves."""
    if _kind(left) != _kind(right):
        return to_number(left) == to_number(right)
    if isinstance(left, str):
        return left.upper() == str(right).upper()
    return left is right if _kind(left) == "object" else bool(left == right)


def compare(operator: str, left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return COMPARISONS[operator](left.upper(), right.upper())
    return COMPARISONS[operator](to_number(left), to_number(right))


def take_property(value: Any, key: Any) -> Any:
    if isinstance(value, _Filtered):
        found = (take_property(item, key) for item in value)
        return _Filtered(item for item in found if item is not None)
    if isinstance(value, Mapping):
        wanted = to_text(key).lower()
        return next((item for name, item in value.items() if str(name).lower() == wanted), None)
    if isinstance(value, list) and _is_number(key) and 0 <= int(key) < len(value):
        return value[int(key)]
    return None


def take_all(value: Any) -> _Filtered:
    if isinstance(value, _Filtered):
        return _Filtered(item for part in value for item in take_all(part))
    return _Filtered(value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ())


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, list):
        return any(is_equal(item, what) for item in where)
    return to_text(what).lower() in to_text(where).lower()


def _format(pattern: str, *values: Any) -> str:
    def piece(found: re.Match[str]) -> str:
        if found[0] in ("{{", "}}"):
            return found[0][0]
        if not found[1] or int(found[1]) >= len(values):
            raise ExpressionError(f"nothing for {found[0]!r} in {pattern!r}")
        return to_text(values[int(found[1])])

    return re.sub(r"\{\{|\}\}|\{(\d*)\}", piece, pattern)


def _join(items: Any, separator: str = ",") -> str:
    return separator.join(map(to_text, items)) if isinstance(items, list) else to_text(items)


def _from_json(text: Any) -> Any:
    try:
        return json.loads(to_text(text))
    except json.JSONDecodeError as e:
        raise ExpressionError(f"fromJSON: {e}: {to_text(text)[:100]!r}") from e


FUNCTIONS: dict[str, Function] = {
    "contains": _contains,
    "startswith": lambda text, start: to_text(text).lower().startswith(to_text(start).lower()),
    "endswith": lambda text, end: to_text(text).lower().endswith(to_text(end).lower()),
    "format": _format,
    "join": _join,
    "tojson": lambda value: json.dumps(value, indent=2),
    "fromjson": _from_json,
}
