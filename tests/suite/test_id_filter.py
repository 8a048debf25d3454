from __future__ import annotations

import re

import pytest

from convex_evals.errors import UserError
from convex_evals.suite.id_filter import id_filter, pattern_of, selection_words


@pytest.mark.parametrize("pattern", ["(", "!(", "a{99999999999999999999}", pytest.param("(" * 5000, id="deep")])
def test_what_is_no_regular_expression_is_named(pattern: str) -> None:
    with pytest.raises(UserError, match=re.escape(f"-f {pattern!r}: not a regular expression: ")):
        id_filter(["fine", pattern])


@pytest.mark.filterwarnings("error")
def test_python_warns_of_no_pattern() -> None:
    assert id_filter(["[[a]"]).matches("a")


def test_a_pattern_of_ids_is_for_these_alone() -> None:
    names = ["a/x-1", "b/y.z"]
    wanted, others = id_filter([pattern_of(names)]), id_filter([f"!{pattern_of(names)}"])
    for name, is_one in {"a/x-1": True, "b/y.z": True, "b/yyz": False, "a/x-11": False}.items():
        assert (wanted.matches(name), others.matches(name)) == (is_one, not is_one)


def test_a_long_selection_is_told_in_part() -> None:
    assert selection_words({"-f": ["a", "!b"], "-c": [], "--tag": ["c d"]}) == "-f 'a' -f '!b' --tag 'c d'"
    assert len(selection_words({"-f": ["x" * 1000]})) == 300
