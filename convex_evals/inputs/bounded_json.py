"""JSON that others wrote, decoded only where what becomes of it is small: in memory, in time, and in depth.

A megabyte of JSON may become thirty in memory (`[{},{},...`), a deep document ends in a `RecursionError` somewhere
later, and a long number takes time that grows with its square. All of that is counted before anything is decoded, in
time that is linear in the text and ends at the limit.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

# Every alternative matches all that it can and never gives anything back: one pass, whatever the text.
_STRING_PATTERN = rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)'
_STRINGS = re.compile(_STRING_PATTERN, re.DOTALL)
_TOKEN = re.compile(_STRING_PATTERN + rb"|[\[{]|[\]}]|,", re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STRING, _COMMA = b'"'[0], b","[0]
_CONTAINERS = frozenset((list, dict))
_OPENING = frozenset(b"[{")
# Our own numbers have fewer digits, and a double in full has 17 digits, or 308 where it is spelled out.
_LONGEST_NUMBER = 400
_LONG_NUMBER = b"0" * _LONGEST_NUMBER
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_NUMBERS_AS_ZERO = bytes.maketrans(b"123456789.eE+-", b"0" * 14)
_BLANKS = b" \n\r\t"


class TooLarge(ValueError):
    """Within its grammar, but more of something than its reader takes; the message says of what."""


@dataclass(frozen=True)
class Limits:
    """What a document may be. Decoded, it takes at most about `4 * size + 150 * values` bytes."""

    size: int  # bytes
    values: int = 100_000  # items of lists and objects, keys apart, and those inside of them; 0.1 s
    depth: int = 64
    repeated_keys: bool = True  # False: a key that an object has twice is refused, instead of the first being dropped


def decode(document: bytes | str, limits: Limits) -> Any:
    """The value of a JSON document.

    Raises `TooLarge` where it is over a limit, another `ValueError` where it is not JSON, not UTF-8, or has a number
    that is none (NaN) or does not fit.
    """
    data = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
    if not _has_few_values(data, limits):
        check(data, limits)
    text = document if isinstance(document, str) else data.decode()
    pairs = None if limits.repeated_keys else _unique
    # A function of ours for each number takes longer than the rest, so it is called where there could be a long one.
    whole = _integer if _LONG_NUMBER in data.translate(_DIGITS_AS_ZERO) else None
    try:
        value = json.loads(text, parse_int=whole, parse_float=_double, parse_constant=_refuse, object_pairs_hook=pairs)
    except RecursionError:
        raise TooLarge(_too_deep(limits.depth)) from None
    if _opened(data) > limits.depth and _is_deeper(value, limits.depth):
        raise TooLarge(_too_deep(limits.depth))
    return value


def decode_object(document: bytes | str, limits: Limits) -> dict[str, Any]:
    """`decode` for a document that is an object. Raises `ValueError` where it is another value, too."""
    value = decode(document, limits)
    if not isinstance(value, dict):
        raise ValueError("JSON, but no object")
    return value


def check(data: bytes, limits: Limits) -> None:
    """Raise `TooLarge` where the JSON in `data` is over a limit, whatever surrounds it; it need not be JSON at all."""
    if len(data) > limits.size:
        raise TooLarge(f"{len(data):,} bytes of JSON (at most {limits.size:,})")
    if _has_few_values(data, limits):
        if _opened(data) <= limits.depth:
            return
        if data.count(b'"') // 2 < limits.values:
            _check_depth(data, limits.depth)
            return
    depth = values = strings = 0
    for token in _TOKEN.finditer(data):
        first = data[token.start()]
        if first == _STRING:
            strings += 1
        elif first == _COMMA:
            values += 1
        elif first in _OPENING:
            values += 1
            depth += 1
            if depth > limits.depth:
                raise TooLarge(_too_deep(limits.depth))
        elif depth == 0:
            return  # more was closed than opened: no JSON from here on, and none is read
        else:
            depth -= 1
        if max(values, strings // 2) >= limits.values:
            raise TooLarge(f"JSON of more than {limits.values:,} values")


def is_small(data: bytes, limits: Limits) -> bool:
    """Whether nothing in the JSON in `data` is over a limit, its depth and repeated keys aside; told in one glance.

    False says nothing: what stands inside of strings counts, too.
    """
    return _has_few_values(data, limits) and _LONG_NUMBER not in data.translate(_NUMBERS_AS_ZERO)


def has_no_more_keys(data: bytes, count: int) -> bool:
    """Whether the objects of the JSON in `data` surely have at most `count` keys together, repeated ones included.

    Where so many different ones are found in it, none is repeated. False says nothing.
    """
    if data.count(b":") == count:
        return True
    bare = data.translate(None, _BLANKS)
    if b'\\\\"' in bare:
        return False
    # The ends of keys, and beginnings of strings that begin with a colon. A quote that stands in a string is behind a
    # backslash, and no such quote is the end of a string, which could only be behind two of them.
    return bare.count(b'":') - bare.count(b'\\":') == count


def _check_depth(data: bytes, most: int) -> None:
    depth = 0
    for bracket in _STRINGS.sub(b"", data).translate(None, _NO_BRACKETS):
        if bracket in _OPENING:
            depth += 1
            if depth > most:
                raise TooLarge(_too_deep(most))
        elif depth == 0:
            return
        else:
            depth -= 1


def _has_few_values(data: bytes, limits: Limits) -> bool:
    """Whether there are surely fewer than may be: brackets and commas inside of strings count, too."""
    if len(data) > limits.size:
        return False
    return len(data) < limits.values or _opened(data) + data.count(b",") < limits.values


def _opened(data: bytes) -> int:
    return data.count(b"[") + data.count(b"{")


def _is_deeper(value: Any, most: int) -> bool:
    """Whether lists and objects stand in each other, more than `most` of them."""
    level = [value]
    for _ in range(most):
        inner = [each.values() if type(each) is dict else each for each in level if type(each) in _CONTAINERS]
        level = [each for group in inner for each in group if type(each) in _CONTAINERS]
        if not level:
            return False
    return True


def _too_deep(most: int) -> str:
    return f"JSON that is nested deeper than {most}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice in one object of the JSON")
    return found


def _integer(text: str) -> int:
    return int(_number(text))


def _double(text: str) -> float:
    value = float(_number(text))
    if not math.isfinite(value):
        raise ValueError("a number in the JSON does not fit")
    return value


def _number(text: str) -> str:
    if len(text) > _LONGEST_NUMBER:
        raise TooLarge(f"a number of more than {_LONGEST_NUMBER} digits in the JSON")
    return text


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is no JSON")
