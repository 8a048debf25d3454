"""Statistics, held against second implementations (scipy, definitions) and against what must be true of any."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.analysis.compare.words import advice
from convex_evals.stats import (
    Conclusion,
    EvalPair,
    Paired,
    by_days,
    family,
    fisher,
    flips,
    holm,
    paired,
    pass_at_k,
    pass_hat_k,
    resampling,
    tied_ranks,
    wilson,
    with_p,
)
from convex_evals.stats.power import least_shift
from convex_evals.stats.quantiles import chi_squared_95, student_975
from convex_evals.stats.resampling import sign_flip_p
from tests.conftest import ROOT, clean_environment
from tests.tier import examples


def pairs_of(*rows: tuple[int, int, int, int]) -> list[EvalPair]:
    return [EvalPair(f"000-a/{n:03}", *row) for n, row in enumerate(rows)]


def singles(gained: int, lost: int, same: int = 0) -> list[EvalPair]:
    return pairs_of(*[(0, 1, 1, 1)] * gained, *[(1, 1, 0, 1)] * lost, *[(1, 1, 1, 1)] * same)


@st.composite
def trials(draw: st.DrawFn, most: int = 5) -> tuple[int, int, int, int]:
    a, b = draw(st.integers(1, most)), draw(st.integers(1, most))
    return draw(st.integers(0, a)), a, draw(st.integers(0, b)), b


many = st.lists(trials(), max_size=30).map(lambda rows: pairs_of(*rows))


def swapped(pairs: list[EvalPair]) -> list[EvalPair]:
    return [EvalPair(p.eval, p.b_passed, p.b_scored, p.a_passed, p.a_scored) for p in pairs]


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_as_scipy(counts: tuple[int, int]) -> None:
    theirs = scipy.stats.binomtest(*counts).proportion_ci(method="wilson")
    assert wilson(*counts) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_single_trials_are_mcnemars_exact_test(gained: int, lost: int, same: int) -> None:
    p = paired(singles(gained, lost, same)).p
    if gained == lost == 0:
        assert p is None
    else:
        assert p == pytest.approx(scipy.stats.binomtest(gained, gained + lost).pvalue, rel=1e-9)


@settings(max_examples=examples(20))
@given(st.lists(trials(), min_size=2, max_size=12).map(lambda rows: pairs_of(*rows)))
def test_sign_flips_as_scipy(pairs: list[EvalPair]) -> None:
    # Whole numbers, so that scipy's ties are ties.
    steps = [int(p.difference * 60) for p in pairs]
    mine = paired(pairs).p
    if not any(steps):
        assert mine is None
        return
    theirs = scipy.stats.permutation_test(
        (np.array(steps),), np.sum, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert mine == pytest.approx(theirs.pvalue, rel=1e-9)


@settings(max_examples=examples(30))
@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=9))
def test_holm_is_bonferroni_on_every_subset(ps: list[float | None]) -> None:
    """Closed testing (Marcus, Peritz, Gabriel 1976): a hypothesis falls when every set that it is in falls."""
    tested = [at for at, p in enumerate(ps) if p is not None]
    subsets = [s for size in range(1, len(tested) + 1) for s in itertools.combinations(tested, size)]
    for at, (before, after) in enumerate(zip(ps, holm(ps), strict=True)):
        assert (after is None) == (before is None)
        if after is not None:
            theirs = max(min(1.0, len(s) * min(ps[each] or 0.0 for each in s)) for s in subsets if at in s)
            assert after == pytest.approx(theirs, abs=1e-12)


@given(trials(most=12))
def test_fisher_as_scipy(row: tuple[int, int, int, int]) -> None:
    a_passed, a, b_passed, b = row
    theirs = scipy.stats.fisher_exact([[a_passed, a - a_passed], [b_passed, b - b_passed]]).pvalue
    assert fisher(EvalPair("x", *row)) == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize(
    "rows", [((0, 3, 2, 3), (1, 3, 1, 3), (3, 3, 2, 3), (0, 3, 3, 3)), ((0, 1, 1, 1), (0, 4, 1, 4))]
)
def test_the_bootstrap_is_what_drawing_every_sample_gives(rows: tuple[tuple[int, int, int, int], ...]) -> None:
    values = [float(p.difference) for p in pairs_of(*rows)]
    means = sorted(sum(sample) / len(values) for sample in itertools.product(values, repeat=len(values)))
    # Chances of the grid, against counting: the sum of three to the third samples, and the like.
    scale = 12
    steps = sorted(round(v * scale) for v in values)
    chances = resampling._sum_of_draws(steps)
    low = len(steps) * steps[0]
    for cell, chance in enumerate(chances):
        at = (low + cell) / (scale * len(steps))
        assert chance == pytest.approx(sum(abs(m - at) < 1e-9 for m in means) / len(means), abs=1e-12)


def test_the_interval_is_close_to_that_of_the_t_test_where_evals_are_many() -> None:
    draw = random.Random(3)
    pairs = pairs_of(*[(draw.randint(0, 5), 5, draw.randint(1, 5), 5) for _ in range(111)])
    found = paired(pairs)
    theirs = scipy.stats.ttest_1samp([float(p.difference) for p in pairs], 0)
    low, high = theirs.confidence_interval()
    assert found.interval == pytest.approx((low, high), abs=0.004)
    assert found.p == pytest.approx(theirs.pvalue, abs=0.001)


@given(many)
def test_swapping_the_sides_turns_signs_and_nothing_else(pairs: list[EvalPair]) -> None:
    one, other = paired(pairs), paired(swapped(pairs))
    assert one.difference == -other.difference
    assert one.p == other.p and one.detectable == other.detectable and one.more_trials == other.more_trials
    assert one.interval == (None if other.interval is None else (-other.interval[1], -other.interval[0]))
    turned = {Conclusion.IMPROVED: Conclusion.REGRESSED, Conclusion.REGRESSED: Conclusion.IMPROVED}
    assert one.verdict is turned.get(other.verdict, other.verdict)
    assert [(f.pair.eval, f.p) for f in flips(pairs)] == [(f.pair.eval, f.p) for f in flips(swapped(pairs))]


@given(many, st.randoms(use_true_random=False))
def test_the_order_of_evals_is_nothing(pairs: list[EvalPair], order: random.Random) -> None:
    shuffled = order.sample(pairs, len(pairs))
    assert paired(shuffled) == paired(pairs) and flips(shuffled) == flips(pairs)


@given(many)
def test_a_verdict_agrees_with_the_p_and_the_interval_that_are_printed(pairs: list[EvalPair]) -> None:
    one = paired(pairs)
    assert one.evals == len(pairs) and (one.interval is None) == (len(pairs) < 2)
    if one.interval:
        low, high = one.interval
        assert low <= one.difference <= high and low >= -1 and high <= 1
        assert (low, high) == (round(low, 3), round(high, 3))
        if one.p is None or one.p > 0.05:
            assert low <= 0 <= high
    match one.verdict:
        case Conclusion.IMPROVED:
            assert one.p is not None and one.p <= 0.05 and one.interval and one.interval[0] > 0
        case Conclusion.REGRESSED:
            assert one.p is not None and one.p <= 0.05 and one.interval and one.interval[1] < 0
        case Conclusion.TOO_FEW:
            assert one.differing < 6
        case Conclusion.UNDERPOWERED:
            assert one.detectable is not None and one.detectable > 0.05 and one.more_trials != 0


def test_the_words() -> None:
    words = ["improved", "regressed", "no difference shown", "underpowered", "too few to tell", "mixed"]
    assert [v.words for v in Conclusion] == words


def test_each_verdict() -> None:
    assert paired(singles(6, 0, 34)).verdict is Conclusion.IMPROVED
    assert paired(singles(0, 6, 34)).verdict is Conclusion.REGRESSED
    assert paired(singles(5, 0, 35)).verdict is Conclusion.TOO_FEW
    assert paired(singles(4, 4, 32)).verdict is Conclusion.UNDERPOWERED
    assert paired(singles(3, 3, 1_000)).verdict is Conclusion.NO_DIFFERENCE
    assert paired([]) == Paired(0, 0, None, None, 0.0, None, None, None, None, Conclusion.TOO_FEW)
    alone = paired(singles(1, 0))
    assert (alone.interval, alone.p, alone.verdict) == (None, 1.0, Conclusion.TOO_FEW)


def test_evals_that_all_moved_alike_have_an_interval_all_the_same() -> None:
    found = paired(singles(8, 0))
    assert found.interval == (0.675, 1.0) and found.verdict is Conclusion.IMPROVED
    assert wilson(8, 8) == pytest.approx((0.6756, 1.0), abs=1e-4)
    still = paired(singles(0, 0, 40))
    assert still.interval == (-0.088, 0.088) and still.verdict is Conclusion.TOO_FEW and still.p is None


def test_mixed_trial_counts_that_no_grid_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(4)
    mixed = [(n, draw.randint(1, 10)) for n in range(40)]
    pairs = pairs_of(*[(draw.randint(0, n), n, draw.randint(0, n), n) for _, n in mixed])
    exact = paired(pairs)
    monkeypatch.setattr(resampling, "_CELLS", 0)
    drawn = paired(pairs)
    assert drawn == paired(list(reversed(pairs))) and drawn != paired(pairs, seed=1)
    assert drawn.p == pytest.approx(exact.p, abs=0.02)
    assert drawn.interval == pytest.approx(exact.interval, abs=0.005)
    turned = paired(swapped(pairs))
    assert turned.p == drawn.p and drawn.interval and turned.interval == (-drawn.interval[1], -drawn.interval[0])
    # Primes multiply beyond what a float holds.
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97]
    monkeypatch.undo()
    found = paired(pairs_of(*[(n // 2, n, n - 1, n) for n in primes]))
    assert found.verdict is Conclusion.IMPROVED and found.p is not None and found.p < 1e-3


def test_more_trials_help_where_trials_are_what_varies() -> None:
    # Every eval is a fair coin on both sides: nothing but trials varies, and their number can be told.
    draw = random.Random(5)
    coins = [sum(draw.random() < 0.5 for _ in range(3)) for _ in range(222)]
    found = paired(pairs_of(*[(a, 3, b, 3) for a, b in zip(coins[:111], coins[111:], strict=True)]))
    assert found.verdict is Conclusion.UNDERPOWERED
    # 111 evals need trials so that 2.8 * sqrt(0.5 / trials / 111) = 0.05: 14 of them.
    assert found.more_trials == pytest.approx(11, abs=3)
    # Half of the evals gain everything, and half lose everything: no number of trials changes that.
    torn = paired(pairs_of(*[(0, 5, 5, 5), (5, 5, 0, 5)] * 20))
    assert torn.verdict is Conclusion.UNDERPOWERED and torn.more_trials is None
    assert paired(singles(3, 3, 1_000)).more_trials == 0


def test_the_detectable_effect_is_found_four_times_out_of_five() -> None:
    draw = np.random.default_rng(6)

    def sample(effect: float) -> Paired:
        a, b = draw.binomial(5, 0.4, 111), draw.binomial(5, 0.4 + effect, 111)
        return paired(pairs_of(*[(int(x), 5, int(y), 5) for x, y in zip(a, b, strict=True)]))

    detectable = sample(0).detectable
    assert detectable is not None
    found = sum(sample(detectable).verdict is Conclusion.IMPROVED for _ in range(400))
    assert 0.7 < found / 400 < 0.9


@pytest.mark.parametrize(("evals", "rate"), [(12, 0.1), (20, 0.2), (40, 0.1)])
def test_single_trials_are_not_promised_more_than_their_signs_can_show(evals: int, rate: float) -> None:
    """A normal approximation calls 37 points detectable with 20 evals, and finds them in half of the cases."""
    draw = np.random.default_rng(7)

    def sample(effect: float) -> Paired:
        a, b = draw.binomial(1, rate, evals), draw.binomial(1, rate + effect, evals)
        return paired(pairs_of(*[(int(x), 1, int(y), 1) for x, y in zip(a, b, strict=True)]))

    known = [one.detectable for one in (sample(0) for _ in range(60)) if one.detectable is not None]
    found = sum(sample(sum(known) / len(known)).verdict is Conclusion.IMPROVED for _ in range(400))
    assert 0.7 < found / 400 < 0.95


@pytest.mark.parametrize("evals", [2, 5])
def test_of_few_evals_nothing_is_detectable(evals: int) -> None:
    one = paired(singles(evals - 1, 0, 1))
    assert one.verdict is Conclusion.TOO_FEW and one.detectable is None
    assert advice(one) == f"Cannot be decided: six evals have to differ, and there are {evals}. More evals would help."


@pytest.mark.parametrize(("evals", "differing"), [(6, 0), (6, 3), (10, 2), (40, 8), (111, 30), (300, 300)])
def test_the_least_shift_is_what_the_test_of_signs_can_find(evals: int, differing: int) -> None:
    """Held against draws, judged by the test itself."""
    shift = least_shift(evals, differing)
    assert shift >= 6 / evals * 0.8 and shift <= 1
    assert least_shift(1_000, 100) == 0, "of so many a normal approximation will do"
    draw, chance = np.random.default_rng(8), min(differing, evals - 1) / evals / 2 * (1 - shift)
    moves = draw.choice([1, -1, 0], (400, evals), p=[chance + shift, chance, max(0.0, 1 - 2 * chance - shift)])
    found = sum((p := sign_flip_p([int(m) for m in row])) is not None and p <= 0.05 and row.sum() > 0 for row in moves)
    assert 0.73 < found / 400 < 0.93


def test_a_family_is_judged_together() -> None:
    parts = {"a": paired(singles(6, 0, 4)), "b": paired(singles(6, 0, 3)), "c": paired(singles(2, 0, 8))}
    assert parts["a"].verdict is Conclusion.IMPROVED
    corrected = family(parts)
    assert [part.p for part in corrected.values()] == [0.0625, 0.0625, 0.5]
    assert corrected["a"].verdict is Conclusion.UNDERPOWERED
    assert corrected["a"].interval is not None and corrected["a"].interval[0] == 0
    # What could never have been significant does not count as a test.
    assert family({"a": parts["a"], "c": parts["c"]})["a"] == parts["a"]
    assert with_p(parts["a"], parts["a"].p) == parts["a"]


def on_days(name: str, a: Sequence[str], b: Sequence[str]) -> EvalPair:
    """A letter for each trial, a word for each day: p(assed) or f(ailed)."""
    a_days, b_days = (tuple(tuple(letter == "p" for letter in day) for day in side) for side in (a, b))
    counts = [(sum(map(sum, side)), sum(map(len, side))) for side in (a_days, b_days)]
    return EvalPair(name, *counts[0], *counts[1], a_days, b_days)


def test_how_sure_a_flip_is() -> None:
    rows = [("fffffffff", "ppppppppp"), ("ppppp", "pffff"), ("fff", "ppp"), ("ppp", "ppf"), ("pp", "pp")]
    rows += [("fffff", "ppppp"), ("pffff", "ppppp")]
    found = flips([on_days(f"{n}", a, b) for n, (a, b) in enumerate(rows)])
    assert [f.pair.eval for f in found] == ["0", "5", "1", "6", "2", "3"]
    assert [f.surety.value for f in found] == ["sure", "sure", "likely", "likely", *["may be chance"] * 2]
    # Three days a side can show nothing of one eval, five can.
    assert [f.has_days for f in found] == [True] * 4 + [False] * 2
    assert [f.corrected is None for f in found] == [False] * 4 + [True] * 2 and found[4].p == pytest.approx(0.1)
    assert [f.difference for f in found] == [1.0, 1.0, -0.8, 0.8, 1.0, pytest.approx(-1 / 3)]
    among_others = flips([on_days(f"{n}", "ffff", "pppp") for n in range(9)])
    assert {f.surety.value for f in among_others} == {"likely"}


def test_trials_of_one_day_are_one_observation() -> None:
    one_day = [EvalPair("a", 0, 20, 20, 20), on_days("b", ["f" * 20], ["p" * 20])]
    assert all(f.p == 1 and f.surety.value == "may be chance" and not f.has_days for f in flips(one_day))
    # One trial a day is Fisher's exact test; more of them, all alike, say no more.
    for a, b in (("fffff", "ppppp"), ("fpfff", "pppfp"), ("ffffpp", "ppppff")):
        table = [[a.count("p"), a.count("f")], [b.count("p"), b.count("f")]]
        expected = scipy.stats.fisher_exact(table).pvalue
        assert by_days(on_days("", a, b)) == pytest.approx(expected)
        assert by_days(on_days("", [x * 3 for x in a], [x * 3 for x in b])) == pytest.approx(expected)
    # A day with more trials than others could not be one of these: the first ones of each day count.
    assert by_days(on_days("", ["fp", "fp", "f", "fpp"], "pppp")) == pytest.approx(2 / 70)


def test_days_dealt_in_all_ways() -> None:
    a, b = ["pff", "fff", "ppf"], ["ppp", "fpp", "ppp", "pff"]
    passed = [day.count("p") for day in (*a, *b)]

    def apart(own: Sequence[int]) -> Fraction:
        rest = [n for at, n in enumerate(passed) if at not in own]
        return abs(Fraction(sum(passed[at] for at in own), len(own)) - Fraction(sum(rest), len(rest)))

    ways = [apart(own) for own in itertools.combinations(range(7), 3)]
    assert by_days(on_days("", a, b)) == pytest.approx(sum(w >= apart([0, 1, 2]) for w in ways) / len(ways))


def test_several_trials_of_one_eval() -> None:
    outcomes = [1, 1, 0, 0, 0]
    for k in range(1, 6):
        samples = list(itertools.combinations(outcomes, k))
        assert pass_at_k(2, 5, k) == pytest.approx(sum(any(s) for s in samples) / len(samples))
        assert pass_hat_k(2, 5, k) == pytest.approx(sum(all(s) for s in samples) / len(samples))
    assert pass_at_k(2, 5, 6) is pass_hat_k(2, 5, 6) is pass_at_k(0, 0, 1) is None


def test_ranks() -> None:
    rates = [Fraction(1, 3), Fraction(1), Fraction(2, 6), Fraction(0)]
    assert tied_ranks(rates) == [2, 1, 2, 4]
    assert tied_ranks(rates) == list(scipy.stats.rankdata([-float(r) for r in rates], method="min"))


def test_a_comparison_takes_no_time() -> None:
    draw = random.Random(7)
    pairs = pairs_of(*[(draw.randint(0, 3), 3, draw.randint(0, 3), 3) for _ in range(40)])
    paired(pairs)
    start = time.process_time()
    paired(pairs), flips(pairs)
    assert time.process_time() - start < 0.05


@pytest.mark.parametrize("freedom", [*range(1, 121), 121, 1_000])
def test_quantiles_are_those_of_scipy(freedom: int) -> None:
    assert student_975(freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom), rel=1e-12)
    assert chi_squared_95(freedom) == pytest.approx(scipy.stats.chi2.ppf(0.95, freedom), rel=1e-12)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = "import sys, convex_evals.stats; print([m for m in ('numpy', 'scipy') if m in sys.modules])"
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_scipy_is_not_needed_for_as_many_evals_as_suites_have() -> None:
    code = (
        "import sys; from convex_evals.stats import EvalPair, paired;"
        "paired([EvalPair(str(n), n % 3, 3, n % 4, 3) for n in range(111)]); print('scipy' in sys.modules)"
    )
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
