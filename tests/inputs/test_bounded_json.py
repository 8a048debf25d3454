from __future__ import annotations

import json
import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.inputs.bounded_json import Limits, TooLarge, check, decode, decode_object

pytestmark = pytest.mark.full

LIMITS = Limits(16 * 1024 * 1024)
SIZE = 12 * 1024 * 1024
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_VALUES)
def test_what_is_small_is_decoded(value: object) -> None:
    assert decode(json.dumps(value), LIMITS) == value
    assert decode(json.dumps(value).encode(), LIMITS) == value


@given(_VALUES, st.integers(1, 20), st.integers(1, 5))
def test_limits_count_what_is_there(value: object, values: int, depth: int) -> None:
    fits = _depth(value) <= depth and _count(value) <= values
    try:
        assert decode(json.dumps(value), Limits(1_000_000, values, depth)) == value
        assert fits
    except TooLarge:
        assert not fits


def _depth(value: object) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def _count(value: object) -> int:
    """Opening brackets and commas, and one."""
    if isinstance(value, dict):
        value = list(value.values())
    return max(0, sum(map(_inside, value)) + len(value) - 1) + 2 if isinstance(value, list) else 1


def _inside(value: object) -> int:
    return _count(value) - 1


HOSTILE = {
    "deep lists": b"[" * SIZE,
    "deep objects": b'{"a":' * (SIZE // 5),
    "deep and closed": b"[" * 100_000 + b"]" * 100_000,
    "empty objects": b"[" + b"{}," * (SIZE // 3) + b"{}]",
    "empty strings": b"[" + b'"",' * (SIZE // 3) + b'""]',
    "objects in objects": b"[" + b'{"a":{}},' * (SIZE // 9) + b"1]",
    "many keys": b"{" + b'"a":1,' * (SIZE // 6) + b'"a":1}',
    "commas": b"," * SIZE,
    "strings without commas": b"[" * 65 + b'""' * (SIZE // 2),
    "closing": b"[" * 60 + b"{}" * 20 + b"]" * SIZE,
    "quotes": b'"' * SIZE,
    "escaped quotes without an end": b"[" * 65 + b'\\"' * (SIZE // 2),
    "backslashes without an end": b'["' + b"\\" * SIZE,
    "a long number": b"1" * SIZE,
    "a long fraction": b"0." + b"1" * SIZE,
    "a long exponent": b"1e" + b"9" * SIZE,
    "long numbers": b"[" + (b"1" * 4_000 + b",") * (SIZE // 4_001) + b"1]",
    "too large a number": b"1e999",
    "NaN": b"[NaN]",
    "infinity": b"-Infinity",
    "white space": b" " * SIZE,
    "nothing": b"",
    "another encoding": '{"a": 1}'.encode("utf-16"),
    "not UTF-8": b'"\xff"',
    "too many bytes": b'"' + b"a" * (17 * 1024 * 1024) + b'"',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_refused_and_cost_little(name: str) -> None:
    document = HOSTILE[name]
    tracemalloc.start()
    started = time.process_time()
    with pytest.raises(ValueError, match=r"."):
        decode(document, LIMITS)
    spent = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert spent < 5  # minutes, where work is not linear; tracing memory takes most of it
    assert peak < 100 * 1024 * 1024


@pytest.mark.parametrize("document", ["[]", "1", '"a"', "null"])
def test_an_object_is_asked_for(document: str) -> None:
    with pytest.raises(ValueError, match="no object"):
        decode_object(document, LIMITS)


def test_brackets_in_text_are_text() -> None:
    text = '[{,"\\' * 100_000
    assert decode(json.dumps({"a": text}), Limits(4_000_000, values=10)) == {"a": text}


def _deepest(document: str) -> int:
    """How deep brackets nest before more of them are closed than were opened, one character after the other."""
    depth = deepest = 0
    characters = iter(document)
    for character in characters:
        if character == '"':
            for inside in characters:
                if inside == "\\":
                    next(characters, None)
                elif inside == '"':
                    break
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            if depth == 0:
                break
            depth -= 1
    return deepest


@given(st.text(alphabet='[]{}"\\,a', max_size=60), st.integers(1, 5))
def test_the_depth_is_counted_alike_in_small_and_large_documents(document: str, depth: int) -> None:
    data = document.encode()
    # With so many commas after it, the number of values is not plainly small, and all tokens are walked through.
    filler = b"[" + b"," * 400 + b"]"
    small, large = Limits(10_000, 1_000, depth), Limits(10_000, 300, depth)
    too_deep = _deepest(document) > depth
    assert _is_refused(data, small) == too_deep
    if too_deep:
        assert _is_refused(data + filler, large)


def _is_refused(data: bytes, limits: Limits) -> bool:
    try:
        check(data, limits)
    except TooLarge:
        return True
    return False
