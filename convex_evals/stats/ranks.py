"""Who is before whom, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from convex_evals.stats.multiple import holm
from convex_evals.stats.paired import FEWEST
from convex_evals.stats.power import ALPHA
from convex_evals.stats.rates import Tally
from convex_evals.stats.resampling import sign_flip_p

# Differences that are no multiples of a larger share are rounded to these: as fine as a test of signs needs, and quick.
_STEPS = 20  # in 1


def tied_ranks(rates: Sequence[Fraction]) -> list[int]:
    """The rank of each rate, the highest first; equal ones share a rank, and the next is left out (1, 2, 2, 4).

    Known as standard competition ranking. Fractions, because 1/3 and 2/6 of trials must tie.
    """
    return [1 + sum(other > rate for other in rates) for rate in rates]


def rank_ranges(models: Sequence[Mapping[str, Tally]]) -> list[tuple[int, int]]:
    """The ranks that each model can have, best and worst, judged by the evals that two models share.

    `models` are tallies by eval. A model is before another where their paired difference is significant among those of
    all pairs, so that with 95 % all ranges hold: one more than are surely better is the best rank, and those that are
    surely worse stand below the worst.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6
    (1979), 65-70; ranks from all pairs as in D. Al Mohamad, J. J. Goeman and E. W. van Zwet, "Simultaneous confidence
    intervals for ranks with application to ranking institutions", Biometrics 78 (2022), 238-247.
    """
    pairs = list(combinations(range(len(models)), 2))
    steps = [_steps(models[first], models[second]) for first, second in pairs]
    # Of those that could not reject whatever the signs, no test is made, so none is counted (as in `paired.family`).
    ps = holm([sign_flip_p(found) if sum(map(bool, found)) >= FEWEST else None for found in steps])
    better, worse = [0] * len(models), [0] * len(models)
    for (first, second), found, p in zip(pairs, steps, ps, strict=True):
        if p is not None and p <= ALPHA:
            ahead, behind = (first, second) if sum(found) > 0 else (second, first)
            better[behind] += 1
            worse[ahead] += 1
    return [(1 + above, len(models) - below) for above, below in zip(better, worse, strict=True)]


def _steps(first: Mapping[str, Tally], second: Mapping[str, Tally]) -> list[int]:
    """How much better the first does in each eval that both scored, in steps of equal size."""
    pairs = [(one, other) for name, one in first.items() if one.scored and (other := second.get(name)) and other.scored]
    whole = math.lcm(*(tally.scored for pair in pairs for tally in pair))
    if whole <= _STEPS:
        return [whole // one.scored * one.passed - whole // other.scored * other.passed for one, other in pairs]
    return [round(_STEPS * (one.passed / one.scored - other.passed / other.scored)) for one, other in pairs]
