"""Uncertainty of what was counted. Pure."""

from __future__ import annotations

import math

_Z95 = 1.959963984540054  # the 97.5 % point of the normal distribution


def wilson(passed: int, scored: int) -> tuple[float, float] | None:
    """The 95 % score interval for `passed` of `scored` independent trials, both ends in [0, 1]; None of no trials.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction. Trials of one eval resemble
    each other, so with several per eval the interval is somewhat too narrow.
    """
    if scored == 0:
        return None
    z2 = _Z95 * _Z95
    centre = (passed + z2 / 2) / (scored + z2)
    half = _Z95 / (scored + z2) * math.sqrt(passed * (scored - passed) / scored + z2 / 4)
    # Where nothing passed, or everything, that end is exact; the arithmetic misses it by a rounding error.
    return (0.0 if passed == 0 else centre - half), (1.0 if passed == scored else centre + half)
