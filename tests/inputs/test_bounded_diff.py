"""Sequences of others are compared in bounded time, those of people as Python does."""

from __future__ import annotations

import time
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.inputs.bounded_diff import matcher
from tests.tier import examples

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "d d"]), max_size=60)


@settings(max_examples=examples(300))
@given(LINES, LINES)
def test_what_people_write_is_compared_in_full(old: list[str], new: list[str]) -> None:
    expected = SequenceMatcher(None, old, new, autojunk=False)
    assert matcher(old, new).get_opcodes() == expected.get_opcodes()
    assert matcher(old, new).ratio() == expected.ratio()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a", "b"] * 3000, ["b", "a"] * 3000),
        (["a"] * 6000, ["a", "x"] * 3000),
        ([str(n % 70) for n in range(6000)], [str(n * 7 % 70) for n in range(6000)]),
        ([str(n) for n in range(200_000)], [str(-n) for n in range(200_000)]),
        ([str(n) for n in range(200_000)], [str(n) for n in reversed(range(200_000))]),
    ],
    ids=["alternating", "doubled", "seventy", "all_different", "reversed"],
)
def test_no_sequences_take_long(old: list[str], new: list[str]) -> None:
    start = time.process_time()
    rebuilt = []
    for tag, i1, i2, j1, j2 in matcher(old, new).get_opcodes():
        rebuilt += old[i1:i2] if tag == "equal" else new[j1:j2]
    assert rebuilt == new
    assert time.process_time() - start < 20  # minutes, without a bound


def test_a_common_beginning_is_found_in_what_is_not_compared() -> None:
    old = ["same"] * 5 + ["a", "b"] * 20_000
    assert matcher(old, ["same"] * 5 + ["c"] * 20_000).get_opcodes()[0] == ("equal", 0, 5, 0, 5)
