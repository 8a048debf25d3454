"""The recipe of `cli validate-guidelines`: screen all evals, ask those that flipped again, judge the new trials alone.

The screening decides which evals are asked again and nothing else, so that its luck is in no verdict. The 5 % are
split: half for the change as a whole (all new trials together), half for the evals that were asked again.
Whatever is said of a change for nothing, about it or about any of its evals, is said at most once in twenty times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

from convex_evals.stats.flips import fisher
from convex_evals.stats.multiple import holm
from convex_evals.stats.paired import ALPHA, POWER, RELEVANT, Conclusion, EvalPair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Chosen by simulation (docs/statistics.md): 300 calls for 40 evals find what 240 calls without a second look do not.
SCREEN_TRIALS, CONFIRM_TRIALS = 3, 10
FLIP = Fraction(1, 2)  # difference of pass rates in the screening, from which an eval is asked again
_HALVES = 2  # of ALPHA: the whole, and the single evals
_TIE = 1 + 1e-9  # as probable, up to rounding


@dataclass(frozen=True)
class Retested:
    """One eval that was asked again."""

    pair: EvalPair  # new trials alone
    p: float  # Fisher's exact test of this eval alone
    corrected: float  # Bonferroni: for all evals that were asked again, the whole, and other questions

    @property
    def confirmed(self) -> bool:
        return self.corrected <= ALPHA

    @property
    def verdict(self) -> Conclusion | None:
        """Which way it is confirmed to have gone; None where it is not."""
        if not self.confirmed:
            return None
        return Conclusion.IMPROVED if self.pair.difference > 0 else Conclusion.REGRESSED


@dataclass(frozen=True)
class Confirmation:
    """What the new trials say of one change. Differences are shares of 1 of all evals that were screened."""

    screened: int  # evals
    flipped: tuple[str, ...]  # those that were to be asked again
    evals: tuple[Retested, ...]  # those of them that both sides scored again, the surest first
    difference: float  # evals that did not flip count as unchanged
    interval: tuple[float, float] | None  # 95 %; None where nothing was asked again
    p: float | None  # of the whole and the surest eval together; corrected where there are other questions
    p_sum: float | None  # of the whole alone, not corrected
    detectable: float | None  # the least true difference that is found four times out of five, roughly
    verdict: Conclusion

    @property
    def improved(self) -> list[Retested]:
        return [e for e in self.evals if e.verdict is Conclusion.IMPROVED]

    @property
    def regressed(self) -> list[Retested]:
        return [e for e in self.evals if e.verdict is Conclusion.REGRESSED]

    @property
    def made_worse(self) -> bool:
        """Whether the change, or one of its evals, is confirmed to have regressed."""
        return self.verdict is Conclusion.REGRESSED or bool(self.regressed)


def flipped(screen: Sequence[EvalPair]) -> tuple[str, ...]:
    """The evals to be asked again: those whose pass rates differ by half and more."""
    return tuple(sorted(pair.eval for pair in screen if abs(pair.difference) >= FLIP))


def confirm(screen: Sequence[EvalPair], again: Sequence[EvalPair]) -> Confirmation:
    """Judge the new trials `again` of the evals that flipped in `screen`.

    The single evals: Fisher's exact test, Bonferroni over those that flipped. The whole: the exact test of many
    two-by-two tables (J. J. Gart, "Point and interval estimation of the common odds ratio in the combination of 2 x 2
    tables with fixed marginals", Biometrika 57 (1970), 471-475): how many of all passes are B's, against all ways that
    each eval's passes can fall to A and B. Both take trials of one eval to be independent of each other.
    """
    names = flipped(screen)
    new = [pair for pair in again if pair.eval in names]
    evals = [Retested(pair, fisher(pair), min(1.0, _HALVES * len(names) * fisher(pair))) for pair in new]
    evals.sort(key=lambda e: (e.p, -abs(e.pair.difference), e.pair.eval))
    p_sum = _stratified_p(new) if new else None
    p = None if p_sum is None else min(1.0, _HALVES * p_sum, evals[0].corrected)
    n = len(screen)
    error = math.sqrt(sum(map(_variance, new))) / n if n else 0.0
    difference = float(sum((pair.difference for pair in new), Fraction(0))) / n if n else 0.0
    half = NormalDist().inv_cdf(1 - ALPHA / 2) * error
    raw = Confirmation(
        screened=n,
        flipped=names,
        evals=tuple(evals),
        difference=difference,
        interval=(max(-1.0, difference - half), min(1.0, difference + half)) if new else None,
        p=p,
        p_sum=p_sum,
        detectable=_detectable(n, error),
        verdict=Conclusion.TOO_FEW,
    )
    return _judged(raw, 1.0)


def together(parts: Sequence[Confirmation]) -> list[Confirmation]:
    """Several questions (models, or hunks alone) answered at once: Holm over the wholes, Bonferroni over all evals.

    Where nothing flipped nothing was tested, which the screening alone decided: it is not counted.
    """
    tested = sum(part.p is not None for part in parts)
    found = []
    for part, p in zip(parts, holm([part.p for part in parts]), strict=True):
        factor = p / part.p if p is not None and part.p else 1.0
        evals = tuple(replace(e, corrected=min(1.0, e.corrected * tested)) for e in part.evals)
        found.append(_judged(replace(part, p=p, evals=evals), factor))
    return found


def _judged(one: Confirmation, factor: float) -> Confirmation:
    """`factor` is what the p of the whole was multiplied with for other questions."""
    directions = set(_directions(one, factor))
    interval = one.interval
    if one.p is not None and one.p <= ALPHA and directions:
        verdict = directions.pop() if len(directions) == 1 else Conclusion.MIXED
    else:
        if interval:
            interval = min(interval[0], 0.0), max(interval[1], 0.0)
        if not one.screened or (one.flipped and not _can_tell(one)):
            verdict = Conclusion.TOO_FEW
        elif one.detectable is not None and one.detectable > RELEVANT:
            verdict = Conclusion.UNDERPOWERED
        else:
            verdict = Conclusion.NO_DIFFERENCE
    return replace(one, interval=interval, verdict=verdict)


def _directions(one: Confirmation, factor: float) -> Iterator[Conclusion]:
    """Which way whatever is significant went: the whole, and each eval that is so with the whole's correction."""
    total = sum((e.pair.difference for e in one.evals), Fraction(0))
    if one.p_sum is not None and _HALVES * one.p_sum * factor <= ALPHA and total:
        yield Conclusion.IMPROVED if total > 0 else Conclusion.REGRESSED
    for e in one.evals:
        if _HALVES * len(one.flipped) * e.p * factor <= ALPHA:
            yield Conclusion.IMPROVED if e.pair.difference > 0 else Conclusion.REGRESSED


def _can_tell(one: Confirmation) -> bool:
    """Whether there are enough new trials to show anything, had all of one side passed and none of the other."""
    least = [1 / math.comb(e.pair.a_scored + e.pair.b_scored, e.pair.a_scored) for e in one.evals]
    # Twice, for both directions are as improbable.
    sides = 2 * _HALVES
    return bool(least) and (sides * len(one.flipped) * min(least) <= ALPHA or sides * math.prod(least) <= ALPHA)


def _detectable(evals: int, error: float) -> float | None:
    """By the new trials' standard `error`, or by what the screening did not see, whichever is more.

    Of what happens to three evals in n, none may be seen (the rule of three: J. A. Hanley and A. Lippman-Hand, "If
    nothing goes wrong, is everything all right?", JAMA 249 (1983), 1743-1745).
    """
    if not evals:
        return None
    factor = NormalDist().inv_cdf(1 - ALPHA / 2) + NormalDist().inv_cdf(POWER)
    return min(1.0, max(3 / evals, factor * error))


def _variance(pair: EvalPair) -> float:
    """Of one eval's difference, with a pass and a failure added to each side, so that none is 0.

    Source: A. Agresti and B. Caffo, "Simple and effective confidence intervals for proportions and differences of
    proportions result from adding two successes and two failures", The American Statistician 54 (2000), 280-288.
    """
    sides = ((pair.a_passed, pair.a_scored), (pair.b_passed, pair.b_scored))
    return sum((k + 1) * (n - k + 1) / (n + 2) ** 3 for k, n in sides)


def _stratified_p(pairs: Sequence[EvalPair]) -> float:
    """Two-sided, adding up what is not more probable."""
    import numpy as np

    chances, at = np.ones(1), 0
    for pair in pairs:
        low, own = _hypergeometric(pair.a_passed + pair.b_passed, pair.a_scored, pair.b_scored)
        chances, at = np.convolve(chances, own), at + pair.b_passed - low
    return min(1.0, float(chances[chances <= chances[at] * _TIE].sum()))


@lru_cache(maxsize=10_000)
def _hypergeometric(passed: int, a_scored: int, b_scored: int) -> tuple[int, NDArray[np.float64]]:
    """The least number of passes that can be B's, and the chances of that and of each larger one."""
    import numpy as np

    low, high = max(0, passed - a_scored), min(b_scored, passed)
    ways = [math.comb(b_scored, n) * math.comb(a_scored, passed - n) for n in range(low, high + 1)]
    return low, np.array([n / sum(ways) for n in ways])
