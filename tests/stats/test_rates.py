"""Pass rates with what their intervals cover, and the ranks that models can have."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from statistics import variance

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.stats import Rate, Tally, pooled, rank_ranges, wilson
from tests.conftest import ROOT, clean_environment

tallies = st.integers(0, 12).flatmap(lambda scored: st.builds(Tally, st.integers(0, scored), st.just(scored)))


@given(st.lists(tallies, max_size=40), st.randoms())
def test_evals_of_this_kind_are_never_surer_than_these(evals: list[Tally], chance: object) -> None:
    rate = Rate.of(evals)
    assert (rate.passed, rate.scored) == (sum(p for p, _ in evals), sum(n for _, n in evals))
    assert rate.evals == sum(n > 0 for _, n in evals)
    if not rate.scored:
        assert (rate.pass_rate, rate.interval, rate.interval_these_evals) == (None, None, None)
        return
    assert rate.interval is not None and rate.interval_these_evals is not None and rate.pass_rate is not None
    (low, high), (lower, higher) = rate.interval, rate.interval_these_evals
    assert 0 <= low <= lower + 1e-12 <= rate.pass_rate + 2e-12 and rate.pass_rate <= higher + 1e-12 <= high + 2e-12
    fewest = wilson(rate.pass_rate * rate.evals, rate.evals)
    assert fewest is not None and low >= fewest[0] - 1e-12 and high <= fewest[1] + 1e-12, "no eval is worth less than 1"
    shuffled = sorted(evals, reverse=True)
    assert Rate.of(shuffled) == rate


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_of_single_trials_both_are_wilsons(passed: list[bool]) -> None:
    rate = Rate.of(Tally(int(one), 1) for one in passed)
    assert rate.interval == rate.interval_these_evals == wilson(sum(passed), len(passed))


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(2, 20))
def test_trials_that_always_agree_are_worth_one(passed: list[bool], trials: int) -> None:
    rate = Rate.of(Tally(trials * one, trials) for one in passed)
    assert rate.interval == pytest.approx(wilson(sum(passed), len(passed)))


def test_what_the_trials_of_some_evals_are_worth() -> None:
    alike, apart = [8, 7, 8, 7, 8, 7, 8, 7, 8, 7] * 4, [10, 10, 9, 1, 10, 5, 9, 2, 10, 10] * 4
    less = (scipy.stats.norm.ppf(0.975) / scipy.stats.t.ppf(0.975, 39)) ** 2  # as the variance is estimated
    for passed, (low, high) in ((alike, (400, 400)), (apart, (50, 100))):
        p = Fraction(sum(passed), 400)
        worth = min(400.0, float(p * (1 - p) / (variance(Fraction(one, 10) for one in passed) / 40)))
        assert low <= worth <= high, "no more than the trials that there are"
        found = Rate.of(Tally(one, 10) for one in passed).interval
        assert found == pytest.approx(wilson(float(p) * worth * less, worth * less))


def test_ten_runs_of_forty_evals() -> None:
    """Pooled as independent trials they say 70 to 79 %: sure of what forty evals cannot tell."""
    evals = [Tally(10, 10)] * 26 + [Tally(5, 10)] * 8 + [Tally(0, 10)] * 6
    rate = Rate.of(evals)
    assert rate.interval_these_evals == pytest.approx((0.705, 0.790), abs=0.001)
    assert rate.interval == pytest.approx((0.615, 0.849), abs=0.001)


def test_runs_are_pooled_eval_by_eval() -> None:
    first, second = {"a": Tally(1, 1), "b": Tally(0, 2)}, {"b": Tally(2, 2), "c": Tally(0, 0)}
    assert pooled([first, second]) == {"a": (1, 1), "b": (2, 4), "c": (0, 0)}


def model(*passed: int, trials: int = 1) -> dict[str, Tally]:
    return {f"000-a/{n:03}": Tally(one, trials) for n, one in enumerate(passed)}


def test_ranks_are_apart_where_a_difference_is_sure() -> None:
    best, middle, worst = model(*[1] * 40), model(*[1] * 28, *[0] * 12), model(*[0] * 40)
    assert rank_ranges([best, middle, worst]) == [(1, 1), (2, 2), (3, 3)]
    near = model(*[1] * 38, *[0] * 2)
    assert rank_ranges([best, near, worst]) == [(1, 2), (1, 2), (3, 3)]


def test_nothing_is_sure_of_five_evals_or_of_others() -> None:
    assert rank_ranges([model(*[1] * 5), model(*[0] * 5)]) == [(1, 2), (1, 2)]
    assert rank_ranges([model(*[1] * 6), model(*[0] * 6)]) == [(1, 1), (2, 2)]
    others = {f"001-b/{n:03}": Tally(0, 1) for n in range(40)}
    unscored = {f"000-a/{n:03}": Tally(0, 0) for n in range(40)}
    for other in (others, unscored, {}):
        assert rank_ranges([model(*[1] * 40), other]) == [(1, 2), (1, 2)]
    assert rank_ranges([]) == [] and rank_ranges([others]) == [(1, 1)]


@given(st.integers(0, 30), st.integers(0, 30))
def test_two_models_are_told_apart_by_mcnemars_test(gained: int, lost: int) -> None:
    first, second = model(*[1] * gained, *[0] * lost), model(*[0] * gained, *[1] * lost)
    sure = gained + lost >= 6 and scipy.stats.binomtest(gained, gained + lost).pvalue <= 0.05
    found = rank_ranges([first, second])
    assert found == ([(1, 1), (2, 2)] if gained > lost else [(2, 2), (1, 1)]) if sure else [(1, 2), (1, 2)]


def test_many_models_are_corrected_for() -> None:
    """Each of the others differs in six evals, which is significant alone (p 0.03) and not among all pairs."""
    field = [model(*[1] * 6, *[0] * 34), model(*[0] * 40)]
    assert rank_ranges(field) == [(1, 1), (2, 2)]
    assert rank_ranges([*field, *[model(*[0] * 40)] * 3]) == [(1, 5)] * 5


@pytest.mark.full
def test_the_simulation_runs_and_holds() -> None:
    argv = [sys.executable, "scripts/simulate_ranking.py", "--draws", "300"]
    found = subprocess.run(argv, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "| pass rates | evals | 1 run |" in found.stdout and "| models | evals | runs |" in found.stdout
