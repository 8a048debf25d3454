"""Two distributions that a mean difference is held against: signs flipped by chance, and evals resampled.

Pass rates of few trials are multiples of a common fraction, so both can be written down in full on a grid. There is
nothing random about the result then, and no order of evals that it could depend on. `scipy.stats.permutation_test`
tries all signs, which are too many from twenty evals on, or draws some, and `scipy.stats.bootstrap` draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from convex_evals.stats.quantiles import student_975
from convex_evals.stats.rates import wilson

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CELLS = 200_000  # of the largest grid: about a twentieth of a second
_DRAWS = 20_000  # where the grid would be larger
_TENTHS_OF_POINTS = 1_000  # in 1


def sign_flip_p(steps: Sequence[int], *, seed: int = 0) -> float | None:
    """Two-sided p that differences of so many `steps` average 0, if each could have had the other sign; None of all 0.

    Where A and B are alike, which of them an eval's results came from is chance. For single trials it is McNemar's
    exact test. Source: R. A. Fisher, "The design of experiments" (1935), section 21; in polynomial time by M. Pagano
    and D. Tritchler, "On obtaining permutation distributions in polynomial time", Journal of the American Statistical
    Association 78 (1983), 435-440; from draws by B. Phipson and G. K. Smyth, "Permutation p-values should never be
    zero", Statistical Applications in Genetics and Molecular Biology 9 (2010), article 39.
    """
    sizes = sorted(abs(step) for step in steps if step)
    if not sizes:
        return None
    whole, positive = sum(sizes), sum(step for step in steps if step > 0)
    extreme = max(positive, whole - positive)
    if whole > _CELLS:
        return _drawn_p(sizes, extreme, seed)
    import numpy as np

    chance = np.zeros(whole + 1)
    chance[0] = 1.0
    for size in sizes:
        moved = chance[:-size] * 0.5
        chance *= 0.5
        chance[size:] += moved
    return min(1.0, 2 * float(chance[extreme:].sum()))


def _drawn_p(sizes: Sequence[int], extreme: int, seed: int) -> float:
    import numpy as np

    signs = np.random.default_rng(seed).integers(0, 2, (_DRAWS, len(sizes)), dtype=np.int8)
    largest = max(sizes)
    # Steps may be larger than floating point holds; shares of the largest are precise enough, ties within a hair.
    sums = signs @ np.array([size / largest for size in sizes])
    whole, bound = sum(sizes) / largest, extreme / largest - 1e-9
    hits = int(((sums >= bound) | (sums <= whole - bound)).sum())
    return (hits + 1) / (_DRAWS + 1)


def bootstrap_interval(steps: Sequence[int], scale: int, *, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % interval of a mean difference when evals are resampled, whole: all trials of one together.

    `steps` are the evals' differences, `scale` of which make 1. Rounded outwards to a tenth of a point (0.001). None of
    fewer than two evals.

    Source: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), 1-26; the
    exact distribution as N. I. Fisher and P. Hall, "Bootstrap algorithms for small samples", Journal of Statistical
    Planning and Inference 27 (1991), 157-169; percentiles widened for small samples by T. C. Hesterberg, "What
    teachers should know about the bootstrap", American Statistician 69 (2015), 371-386. Where all evals
    moved alike, resampling them says nothing; then Wilson's interval tells how large a share of evals may not.
    """
    n = len(steps)
    if n < 2:
        return None
    low, high = min(steps), max(steps)
    if low == high:
        return _of_equals(Fraction(low, scale), n)
    tail = _tail(n)
    if n * (high - low) > _CELLS:
        return _drawn_interval(steps, scale, tail, seed)
    first, last = _quantiles(_sum_of_draws(steps), tail)
    return _outwards(Fraction(n * low + first, n * scale), Fraction(n * low + last, n * scale))


def _sum_of_draws(steps: Sequence[int]) -> NDArray[np.float64]:
    """The chances of 0, 1, ... for the sum of as many draws as there are steps, counted from the least sum."""
    import numpy as np

    n, low = len(steps), min(steps)
    cells = n * (max(steps) - low) + 1
    length = 1 << (cells - 1).bit_length()
    once = np.bincount(np.array([step - low for step in steps]), minlength=length) / n
    # A sum of independent draws is a convolution, which is a power of the transform.
    chances: NDArray[np.float64] = np.fft.irfft(np.fft.rfft(once) ** n, length)[:cells]
    return np.clip(chances, 0.0, None)


def _quantiles(chances: NDArray[np.float64], tail: float) -> tuple[int, int]:
    import numpy as np

    first = int(np.searchsorted(np.cumsum(chances), tail))
    # From the other end alike: swapping the sides must do nothing but turn the signs.
    last = len(chances) - 1 - int(np.searchsorted(np.cumsum(chances[::-1]), tail))
    return min(first, len(chances) - 1), max(last, 0)


def _drawn_interval(steps: Sequence[int], scale: int, tail: float, seed: int) -> tuple[float, float]:
    if sum(steps) < 0:  # swapping the sides turns the signs, whatever is drawn
        low, high = _drawn_interval([-step for step in reversed(steps)], scale, tail, seed)
        return -high, -low
    import numpy as np

    values = np.array([step / scale for step in steps])
    draws = np.random.default_rng(seed).integers(0, len(values), (_DRAWS, len(values)), dtype=np.int32)
    low, high = np.quantile(values[draws].mean(axis=1), [tail, 1 - tail])
    return _outwards(Fraction(float(low)), Fraction(float(high)))


@lru_cache
def _tail(n: int) -> float:
    """The share to be cut off at each end so that an interval of `n` evals holds 95 %."""
    return NormalDist().cdf(-math.sqrt(n / (n - 1)) * student_975(n - 1))


def _of_equals(value: Fraction, n: int) -> tuple[float, float]:
    low, _ = wilson(n, n) or (0.0, 1.0)
    if value == 0:
        return _outwards(Fraction(low - 1), Fraction(1 - low))
    ends = sorted((value, value * Fraction(low)))
    return _outwards(ends[0], ends[1])


def _outwards(low: Fraction, high: Fraction) -> tuple[float, float]:
    tenths = math.floor(low * _TENTHS_OF_POINTS), math.ceil(high * _TENTHS_OF_POINTS)
    return tenths[0] / _TENTHS_OF_POINTS, tenths[1] / _TENTHS_OF_POINTS
