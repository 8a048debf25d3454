"""Models without a scored trial: told from others by why their evals are in no pair, and all on one line."""

from __future__ import annotations

import pytest

from convex_evals.analysis.compare.silent import Silence, silence, silent_line


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [
        (["not done in A and B"] * 2, Silence("AB", "not done")),
        (["no scored trial in A and B (3 x auth)", "no scored trial in A and B (1 x auth, 2 x timeout)"], ...),
        (["no scored trial in B (1 x timeout)", "only in A"], Silence("B", "timeout")),
        (["no scored trial in B (1 x timeout)", "only in B"], None),
        (["no scored trial in A (1 x timeout)", "not done in A and B"], Silence("A", "not done, timeout")),
        (["no scored trial in A (1 x timeout)", "no scored trial in B (1 x timeout)"], None),
        (["no scored trial in A (1 x grading: tests)", "other grader"], None),
        (["only in A"], None),
        ([], None),
    ],
)
def test_a_side_is_silent_where_no_eval_of_it_is_scored(reasons: list[str], expected: object) -> None:
    assert silence(reasons) == (Silence("AB", "auth, timeout") if expected is ... else expected)


def test_all_are_on_one_line() -> None:
    found = {"a": Silence("AB", "auth"), "b": Silence("B", "auth"), "c": Silence("AB", "auth")}
    assert silent_line(found, "before", "after") == "No scored trial of: a, c (auth); b (after: auth)"
    assert silent_line({}, "A", "B") is None
