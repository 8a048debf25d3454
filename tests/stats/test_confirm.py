"""The recipe of `cli validate-guidelines` as arithmetic: what is asked again, and what the new trials say."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from convex_evals.stats import Conclusion, EvalPair, confirm, flipped, together


def pairs(*rows: tuple[int, int, int, int]) -> list[EvalPair]:
    return [EvalPair(f"{n}", *row) for n, row in enumerate(rows)]


def screen(evals: int, flips: int) -> list[EvalPair]:
    return pairs(*[(0, 3, 3, 3)] * flips, *[(3, 3, 3, 3)] * (evals - flips))


def test_what_differs_by_half_is_asked_again() -> None:
    assert flipped(pairs((0, 3, 1, 3), (0, 3, 2, 3), (1, 2, 2, 2), (3, 3, 0, 1), (2, 4, 1, 4))) == ("1", "2", "3")
    assert flipped([]) == ()


def test_single_evals_are_tested_by_fisher_and_corrected_for_all_that_flipped() -> None:
    rows = [(1, 10, 9, 10), (5, 10, 4, 10), (2, 10, 3, 9)]
    found = confirm(screen(40, 4), pairs(*rows))
    assert found.flipped == ("0", "1", "2", "3")
    for one in found.evals:
        p = one.pair
        table = [[p.a_passed, p.a_scored - p.a_passed], [p.b_passed, p.b_scored - p.b_passed]]
        assert one.p == pytest.approx(fisher_exact(table).pvalue)
    # Four evals flipped, the one without a new verdict included; the other half of 5 % is the whole's.
    assert found.evals[0].corrected == pytest.approx(2 * 4 * found.evals[0].p)
    assert [one.corrected for one in found.evals[1:]] == [1.0, 1.0]
    assert (
        [e.pair.eval for e in found.improved] == ["0"] and not found.regressed and found.verdict is Conclusion.IMPROVED
    )


def test_the_whole_against_all_ways_that_passes_can_fall() -> None:
    rows = [(1, 4, 3, 4), (2, 3, 3, 4), (0, 2, 1, 2)]
    found = confirm(screen(9, 3), pairs(*rows))
    chances: dict[int, float] = {}
    ranges = [range(max(0, a + b - m), min(n, a + b) + 1) for a, m, b, n in rows]
    for bs in itertools.product(*ranges):
        ways = math.prod(
            math.comb(n, x) * math.comb(m, a + b - x) / math.comb(m + n, a + b)
            for x, (a, m, b, n) in zip(bs, rows, strict=True)
        )
        chances[sum(bs)] = chances.get(sum(bs), 0) + ways
    observed = chances[sum(b for _, _, b, _ in rows)]
    assert sum(chances.values()) == pytest.approx(1)
    assert found.whole and found.whole.p == pytest.approx(
        sum(c for c in chances.values() if c <= observed * (1 + 1e-9))
    )
    rates = [b / n - a / m for a, m, b, n in rows]
    assert found.difference == pytest.approx(sum(rates) / 9), "of all that were screened"


def test_screening_alone_says_nothing() -> None:
    found = confirm(screen(40, 10), pairs(*[(5, 10, 5, 10)] * 10))
    assert found.difference == 0 and not found.verdict.shown and not any(e.confirmed for e in found.evals)
    # New trials of what did not flip are nobody's business.
    extra = [EvalPair("39", 10, 10, 0, 10)]
    assert confirm(screen(40, 1), extra).evals == ()


@pytest.mark.parametrize(
    ("evals", "rows", "verdict"),
    [
        (40, [(0, 10, 10, 10)], Conclusion.IMPROVED),
        (40, [(10, 10, 1, 10)], Conclusion.REGRESSED),
        (40, [(10, 10, 0, 10), (0, 10, 10, 10)], Conclusion.MIXED),
        (40, [(3, 10, 6, 10)] * 8, Conclusion.IMPROVED),  # none alone, all together
        (40, [(5, 10, 6, 10)], Conclusion.UNDERPOWERED),
        (111, [(5, 10, 6, 10)], Conclusion.NO_DIFFERENCE),
        (40, [], Conclusion.UNDERPOWERED),
        (111, [], Conclusion.NO_DIFFERENCE),
        (111, [(0, 2, 2, 2)], Conclusion.TOO_FEW),  # whatever comes out
        (0, [], Conclusion.TOO_FEW),
    ],
)
def test_verdicts(evals: int, rows: list[tuple[int, int, int, int]], verdict: Conclusion) -> None:
    found = confirm(screen(evals, len(rows)), pairs(*rows))
    assert found.verdict is verdict
    if found.interval and not found.verdict.shown:
        assert found.interval[0] <= 0 <= found.interval[1]
    assert found.made_worse == (verdict in (Conclusion.REGRESSED, Conclusion.MIXED))


def test_a_flip_without_new_verdicts_is_too_few() -> None:
    assert confirm(screen(111, 2), []).verdict is Conclusion.TOO_FEW


def test_what_is_confirmed_leaves_its_share_to_the_rest() -> None:
    rows = [(0, 10, 10, 10), (1, 10, 9, 10), (2, 10, 8, 10)]
    found = confirm(screen(40, 3), pairs(*rows))
    assert found.whole
    ps = [one.p for one in found.evals]
    assert [found.whole.corrected, *(one.corrected for one in found.evals)] == pytest.approx(
        [2 * found.whole.p, 3 * ps[0], 2 * ps[1], ps[2]]
    ), "Holm: a sixth of 5 % is each eval's, a half is the whole's; each in turn has what is left"
    assert ps[2] > 0.05 / 6 and len(found.improved) == 3


def test_questions_together_are_corrected_for_their_number() -> None:
    clear = confirm(screen(40, 1), pairs((0, 10, 10, 10)))
    # 2 * Fisher of 2/10 against 8/10, which is 0.023.
    weak = confirm(screen(40, 1), pairs((2, 10, 8, 10)))
    nothing = confirm(screen(40, 0), [])
    assert clear.verdict is weak.verdict is Conclusion.IMPROVED
    one, two, three, four = together([weak, clear, nothing, weak])
    assert clear.p and weak.p and weak.p < 0.05
    assert two.p == pytest.approx(3 * clear.p) and two.verdict is Conclusion.IMPROVED
    assert one.p == four.p == pytest.approx(2 * weak.p) and one.verdict is Conclusion.UNDERPOWERED
    assert three == nothing and not one.evals[0].confirmed
    assert together([weak]) == [weak]


@given(st.lists(st.lists(st.tuples(*[st.integers(0, 10)] * 2), max_size=6), min_size=1, max_size=4))
def test_verdict_gate_and_lines_never_contradict_each_other(questions: list[list[tuple[int, int]]]) -> None:
    parts = [confirm(screen(12, len(rows)), pairs(*[(a, 10, b, 10) for a, b in rows])) for rows in questions]
    for found in together(parts):
        lines = [found.whole.verdict if found.whole else None, *(e.verdict for e in found.evals)]
        assert found.verdict.shown == any(lines) == (found.p is not None and found.p <= 0.05 and any(lines))
        assert found.made_worse == (Conclusion.REGRESSED in lines)
        assert (found.verdict is Conclusion.MIXED) == ({Conclusion.IMPROVED, Conclusion.REGRESSED} <= {*lines})
        if found.interval and not (found.whole and found.whole.verdict):
            assert found.interval[0] <= 0 <= found.interval[1], "an interval is of the whole"
