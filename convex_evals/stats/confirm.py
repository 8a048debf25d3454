"""The recipe of `cli validate-guidelines`: screen all evals, ask those that flipped again, judge the new trials alone.

The screening decides which evals are asked again and nothing else, so that its luck is in no verdict. Everything that
could be confirmed, the change as a whole and each eval that flipped, of all models or hunks, is one family of tests
with one correction: whatever is said of a change for nothing, about it or about any of its evals, is said at most once
in twenty times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from statistics import NormalDist
from typing import TYPE_CHECKING

from convex_evals.stats.flips import fisher
from convex_evals.stats.multiple import holm
from convex_evals.stats.paired import RELEVANT, Conclusion, EvalPair
from convex_evals.stats.power import ALPHA, POWER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Chosen by simulation (docs/statistics.md): 300 calls for 40 evals find what 240 calls without a second look do not.
SCREEN_TRIALS, CONFIRM_TRIALS = 3, 10
FLIP = Fraction(1, 2)  # difference of pass rates in the screening, from which an eval is asked again
_HALF = Fraction(1, 2)  # of a question's share of ALPHA: for the whole; the other is for the single evals together
_TIE = 1 + 1e-9  # as probable, up to rounding


@dataclass(frozen=True)
class Retested:
    """One eval that was asked again."""

    pair: EvalPair  # new trials alone
    p: float  # Fisher's exact test of this eval alone
    corrected: float  # for everything else that could have been confirmed

    @property
    def confirmed(self) -> bool:
        return self.verdict is not None

    @property
    def verdict(self) -> Conclusion | None:
        """Which way it is confirmed to have gone; None where it is not."""
        return _direction(self.corrected, self.pair.difference)


@dataclass(frozen=True)
class Whole:
    """The change as a whole: all evals that were asked again, together."""

    difference: Fraction  # sum over the evals of their new trials' differences
    p: float  # of all new trials together
    corrected: float  # for everything else that could have been confirmed

    @property
    def verdict(self) -> Conclusion | None:
        """Which way it is confirmed to have gone; None where it is not."""
        return _direction(self.corrected, self.difference)


@dataclass(frozen=True)
class Confirmation:
    """What the new trials say of one change. Differences are shares of 1 of all evals that were screened."""

    screened: int  # evals
    flipped: tuple[str, ...]  # those that were to be asked again
    evals: tuple[Retested, ...]  # those of them that both sides scored again, the surest first
    whole: Whole | None  # None where nothing was asked again
    difference: float  # evals that did not flip count as unchanged
    interval: tuple[float, float] | None  # 95 %; it holds 0 unless the whole is confirmed; None as for `whole`
    detectable: float | None  # the least true difference that is found four times out of five, roughly
    verdict: Conclusion

    @property
    def p(self) -> float | None:
        """On which the verdict rests: the least of all that are corrected, of the whole and of its evals."""
        return min((one.corrected for one in self._lines), default=None)

    @property
    def improved(self) -> list[Retested]:
        return [e for e in self.evals if e.verdict is Conclusion.IMPROVED]

    @property
    def regressed(self) -> list[Retested]:
        return [e for e in self.evals if e.verdict is Conclusion.REGRESSED]

    @property
    def directions(self) -> frozenset[Conclusion]:
        """Which ways the whole, or one of its evals, is confirmed to have gone."""
        return frozenset(one.verdict for one in self._lines if one.verdict)

    @property
    def shown(self) -> Conclusion | None:
        """What is confirmed; None where nothing is."""
        return Conclusion.MIXED if len(self.directions) > 1 else next(iter(self.directions), None)

    @property
    def made_worse(self) -> bool:
        """Whether the whole, or one of its evals, is confirmed to have regressed, whatever else improved."""
        return Conclusion.REGRESSED in self.directions

    @property
    def _lines(self) -> tuple[Whole | Retested, ...]:
        """Everything that is tested."""
        return (self.whole, *self.evals) if self.whole else self.evals


def _direction(corrected: float, difference: Fraction) -> Conclusion | None:
    if corrected > ALPHA or not difference:
        return None
    return Conclusion.IMPROVED if difference > 0 else Conclusion.REGRESSED


def flipped(screen: Sequence[EvalPair]) -> tuple[str, ...]:
    """The evals to be asked again: those whose pass rates differ by half and more."""
    return tuple(sorted(pair.eval for pair in screen if abs(pair.difference) >= FLIP))


def confirm(screen: Sequence[EvalPair], again: Sequence[EvalPair]) -> Confirmation:
    """Judge the new trials `again` of the evals that flipped in `screen`.

    The single evals: Fisher's exact test. The whole: the exact test of many two-by-two tables (J. J. Gart, "Point and
    interval estimation of the common odds ratio in the combination of 2 x 2 tables with fixed marginals", Biometrika 57
    (1970), 471-475): how many of all passes are B's, against all ways that each eval's passes can fall to A and B. Both
    take trials of one eval to be independent of each other.
    """
    names = flipped(screen)
    new = [pair for pair in again if pair.eval in names]
    evals = sorted(
        (Retested(pair, p, p) for pair in new for p in [fisher(pair)]),
        key=lambda e: (e.p, -abs(e.pair.difference), e.pair.eval),
    )
    n, total = len(screen), sum((pair.difference for pair in new), Fraction(0))
    p_whole = _stratified_p(new) if new else 1.0
    error = math.sqrt(sum(map(_variance, new))) / n if n else 0.0
    difference = float(total) / n if n else 0.0
    half = NormalDist().inv_cdf(1 - ALPHA / 2) * error
    raw = Confirmation(
        screened=n,
        flipped=names,
        evals=tuple(evals),
        whole=Whole(total, p_whole, p_whole) if new else None,
        difference=difference,
        interval=(max(-1.0, difference - half), min(1.0, difference + half)) if new else None,
        detectable=_detectable(n, error),
        verdict=Conclusion.TOO_FEW,
    )
    return together([raw])[0]


def together(parts: Sequence[Confirmation]) -> list[Confirmation]:
    """Several questions (models, or hunks alone) answered at once: one correction (Holm) for all that they test.

    Each question has the same share of the chance of an error, half of it for its whole, the rest for its evals. Where
    nothing flipped nothing was tested, which the screening alone decided: it has no share. An eval that flipped and was
    not scored again keeps its own.
    """
    ps: list[float | None] = []
    weights: list[Fraction] = []
    for part in parts:
        if part.whole:
            unscored = len(part.flipped) - len(part.evals)
            ps += [part.whole.p, *(e.p for e in part.evals), *[1.0] * unscored]
            weights += [_HALF, *[(1 - _HALF) / len(part.flipped)] * len(part.flipped)]
    corrected = iter([1.0 if p is None else p for p in holm(ps, weights)])
    found = []
    for part in parts:
        if part.whole:
            whole = replace(part.whole, corrected=next(corrected))
            own = list(islice(corrected, len(part.flipped)))
            evals = tuple(replace(e, corrected=p) for e, p in zip(part.evals, own, strict=False))
            found.append(_judged(replace(part, whole=whole, evals=evals)))
        else:
            found.append(_judged(part))
    return found


def _judged(one: Confirmation) -> Confirmation:
    interval = one.interval
    if interval and not (one.whole and one.whole.verdict):
        interval = min(interval[0], 0.0), max(interval[1], 0.0)
    if one.shown:
        verdict = one.shown
    elif not one.screened or (one.flipped and not _can_tell(one)):
        verdict = Conclusion.TOO_FEW
    elif one.detectable is not None and one.detectable > RELEVANT:
        verdict = Conclusion.UNDERPOWERED
    else:
        verdict = Conclusion.NO_DIFFERENCE
    return replace(one, interval=interval, verdict=verdict)


def _can_tell(one: Confirmation) -> bool:
    """Whether there are enough new trials to show anything, had all of one side passed and none of the other."""
    least = [1 / math.comb(e.pair.a_scored + e.pair.b_scored, e.pair.a_scored) for e in one.evals]
    # Twice, for both directions are as improbable.
    most = 2 / _HALF
    return bool(least) and (most * len(one.flipped) * min(least) <= ALPHA or most * math.prod(least) <= ALPHA)


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
    p = float(chances[chances <= chances[at] * _TIE].sum())
    return p if p * _TIE < 1 else 1.0


@lru_cache(maxsize=10_000)
def _hypergeometric(passed: int, a_scored: int, b_scored: int) -> tuple[int, NDArray[np.float64]]:
    """The least number of passes that can be B's, and the chances of that and of each larger one."""
    import numpy as np

    low, high = max(0, passed - a_scored), min(b_scored, passed)
    ways = [math.comb(b_scored, n) * math.comb(a_scored, passed - n) for n in range(low, high + 1)]
    return low, np.array([n / sum(ways) for n in ways])
