"""Of one side alone: pass rates with their interval, several trials of one eval, ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from statistics import NormalDist

_Z95 = NormalDist().inv_cdf(0.975)


def wilson(passed: int, scored: int) -> tuple[float, float] | None:
    """The 95 % score interval for `passed` of `scored` independent trials, both ends in [0, 1]; None of no trials.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction. Trials of one eval resemble
    each other, so with several per eval the interval is somewhat too narrow.

    scipy has it (`binomtest(...).proportion_ci(method="wilson")`), but to import scipy.stats takes a second, and every
    command that shows a pass rate needs this.
    """
    if scored == 0:
        return None
    z2 = _Z95 * _Z95
    centre = (passed + z2 / 2) / (scored + z2)
    half = _Z95 / (scored + z2) * math.sqrt(passed * (scored - passed) / scored + z2 / 4)
    # Where nothing passed, or everything, that end is exact; the arithmetic misses it by a rounding error.
    return (0.0 if passed == 0 else centre - half), (1.0 if passed == scored else centre + half)


def pass_at_k(passed: int, scored: int, k: int) -> float | None:
    """The chance that at least one of `k` trials passes, unbiased; None of fewer than `k` scored trials.

    Source: M. Chen and others, "Evaluating large language models trained on code", arXiv:2107.03374 (2021), equation 1.
    """
    return None if not 1 <= k <= scored else 1 - math.comb(scored - passed, k) / math.comb(scored, k)


def pass_hat_k(passed: int, scored: int, k: int) -> float | None:
    """The chance that all of `k` trials pass (pass^k), unbiased; None of fewer than `k` scored trials.

    Source: S. Yao and others, "tau-bench: A benchmark for tool-agent-user interaction in real-world domains",
    arXiv:2406.12045 (2024).
    """
    return None if not 1 <= k <= scored else math.comb(passed, k) / math.comb(scored, k)


def tied_ranks(rates: Sequence[Fraction]) -> list[int]:
    """The rank of each rate, the highest first; equal ones share a rank, and the next is left out (1, 2, 2, 4).

    Known as standard competition ranking. Fractions, because 1/3 and 2/6 of trials must tie.
    """
    return [1 + sum(other > rate for other in rates) for rate in rates]
