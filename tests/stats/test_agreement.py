"""Cohen's kappa and its interval: known values, what must not matter, and how often the interval is wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.stats.agreement import Agreement

counts = st.integers(0, 40)


@pytest.mark.parametrize(
    ("cells", "kappa"),
    [
        ((20, 5, 10, 15), 0.4),  # the example of most textbooks
        ((45, 15, 25, 15), 0.130435),
        ((25, 35, 5, 35), 0.259259),
        ((10, 0, 0, 10), 1.0),
        ((0, 5, 5, 0), -1.0),
        ((5, 0, 5, 0), 0.0),
    ],
)
def test_kappa(cells: tuple[int, int, int, int], kappa: float) -> None:
    found = Agreement(*cells)
    assert found.kappa() == pytest.approx(kappa, abs=1e-6)
    interval = found.interval()
    assert interval and interval[0] - 1e-6 <= kappa <= interval[1] + 1e-6


@pytest.mark.parametrize("cells", [(0, 0, 0, 0), (5, 2, 0, 0), (0, 0, 3, 4)])
def test_of_one_kind_alone_nothing_is_told(cells: tuple[int, int, int, int]) -> None:
    found = Agreement(*cells)
    assert found.kappa() is None and found.interval() is None and not found.has_both


def test_few_that_agree_are_not_enough() -> None:
    """A bootstrap would say that five pairs of judges who always agreed are sure to agree."""
    few, many = (Agreement(n, 0, 0, n).interval() for n in (3, 20))
    assert few and many and few[0] < 0.3 and many[0] > 0.75 and few[1] == many[1] == 1.0


@given(counts, counts, counts, counts)
def test_it_does_not_matter_which_word_is_yes(a: int, b: int, c: int, d: int) -> None:
    one, other = Agreement(a, b, c, d), Agreement(d, c, b, a)
    assert one.has_both == other.has_both
    if one.has_both:
        assert one.kappa() == pytest.approx(other.kappa()) and one.observed == other.observed
        low, high = one.interval() or (2.0, -2.0)
        assert -1 <= low <= high <= 1 and high - low > 0
        assert (low, high) == pytest.approx(other.interval(), abs=0.06)


@pytest.mark.parametrize("share", [(0.5, 0.05, 0.05, 0.4), (0.7, 0.05, 0.1, 0.15), (0.4, 0.2, 0.2, 0.2)])
@pytest.mark.parametrize("number", [10, 40])
def test_the_interval_is_rarely_wrong(share: tuple[float, ...], number: int) -> None:
    import numpy as np

    first, second = share[0] + share[1], share[0] + share[2]
    chance = first * second + (1 - first) * (1 - second)
    kappa = (share[0] + share[3] - chance) / (1 - chance)
    draws = np.random.default_rng(7).multinomial(number, share, 200)
    found = [interval for cells in draws if (interval := Agreement(*map(int, cells)).interval())]
    missed, too_high = (
        sum(not low <= kappa <= high for low, high in found),
        sum(low > kappa for low, _ in found),
    )
    assert missed <= 0.1 * len(found) and too_high <= 0.05 * len(found)
