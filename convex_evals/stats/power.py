"""What the test of signs can find of few evals, where a normal approximation promises too much."""

from __future__ import annotations

import math
from functools import lru_cache

ALPHA, POWER = 0.05, 0.8
_MOST = 300  # evals; of more, the approximation is as good
_HALVINGS = 20


@lru_cache(maxsize=1024)
def least_shift(evals: int, differing: int) -> float:
    """The least share of `evals` that have to move one way, net, to be found four times out of five; 0 of very many.

    `differing` of them moved by chance, half of them each way, and the others go on to. Exact for single trials, where
    flipped signs are McNemar's test: J. T. Connett, J. A. Smith and R. B. McHugh, "Sample size and power for
    pair-matched case-control studies", Statistics in Medicine 6 (1987), 53-59. 1 where not even that would do.
    """
    if evals > _MOST:
        return 0.0
    by_chance = min(differing, evals - 1) / evals / 2
    low, high = 0.0, 1.0
    if _power(evals, by_chance, high) < POWER:
        return 1.0
    for _ in range(_HALVINGS):
        shift = (low + high) / 2
        low, high = (shift, high) if _power(evals, by_chance, shift) < POWER else (low, shift)
    return high


def _power(evals: int, by_chance: float, shift: float) -> float:
    """The chance to reject, in the right direction: `shift` of the evals move one way, and chance moves the others."""
    by_chance *= 1 - shift
    moving = 2 * by_chance + shift
    if not moving:
        return 0.0
    found = 0.0
    for moved, chance in enumerate(_binomial(evals, moving)):
        least = _least_for(moved)
        if least is not None and chance > 1e-9:
            found += chance * math.fsum(_binomial(moved, (by_chance + shift) / moving)[least:])
    return found


@lru_cache(maxsize=_MOST + 1)
def _least_for(moved: int) -> int | None:
    """How many of `moved` evals have to move one way for p to be small enough; None where all of them are too few."""
    tail, least = 0.0, None
    for k, chance in reversed(list(enumerate(_binomial(moved, 0.5)))):
        tail += chance
        if 2 * tail > ALPHA:
            break
        least = k
    return least


def _binomial(n: int, share: float) -> list[float]:
    """The chances of 0 to n."""
    if share <= 0 or share >= 1:
        return [float(k == (n if share >= 1 else 0)) for k in range(n + 1)]
    mode = min(n, int((n + 1) * share))
    logs = math.lgamma(n + 1) - math.lgamma(mode + 1) - math.lgamma(n - mode + 1)
    top = math.exp(logs + mode * math.log(share) + (n - mode) * math.log1p(-share))
    found, odds = [0.0] * (n + 1), share / (1 - share)
    found[mode] = top
    for k in range(mode, n):
        found[k + 1] = found[k] * (n - k) / (k + 1) * odds
    for k in range(mode, 0, -1):
        found[k - 1] = found[k] * k / ((n - k + 1) * odds)
    return found
