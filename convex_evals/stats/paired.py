"""Did it change, and how sure are we: two sides over the evals that both of them scored."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from statistics import NormalDist, variance
from typing import assert_never

from convex_evals.stats.multiple import holm
from convex_evals.stats.power import ALPHA, POWER, least_shift
from convex_evals.stats.quantiles import chi_squared_95, student_975
from convex_evals.stats.resampling import bootstrap_interval, sign_flip_p

RELEVANT = 0.05  # a difference of five points is what people want to be told of
# With five differing evals the smallest possible p is 2/2**5, more than ALPHA.
FEWEST = 6
MOST_TRIALS = 100  # per eval, as `cli run --trials` has it


class Conclusion(StrEnum):
    """What may be said of a difference."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    NO_DIFFERENCE = "no_difference"
    UNDERPOWERED = "underpowered"
    TOO_FEW = "too_few"
    MIXED = "mixed"  # both, each of some evals: never said of a mean

    @property
    def words(self) -> str:
        """For people; the same everywhere."""
        match self:
            case Conclusion.IMPROVED:
                return "improved"
            case Conclusion.REGRESSED:
                return "regressed"
            case Conclusion.NO_DIFFERENCE:
                return "no difference shown"
            case Conclusion.UNDERPOWERED:
                return "underpowered"
            case Conclusion.TOO_FEW:
                return "too few to tell"
            case Conclusion.MIXED:
                return "mixed"
            case _:
                assert_never(self)

    @property
    def shown(self) -> bool:
        """Whether it says that something changed."""
        return self in (Conclusion.IMPROVED, Conclusion.REGRESSED, Conclusion.MIXED)


@dataclass(frozen=True)
class EvalPair:
    """One eval that both sides scored."""

    eval: str
    a_passed: int  # trials
    a_scored: int  # trials, at least 1
    b_passed: int
    b_scored: int
    # By day on which they were asked: whether each scored trial passed, in an order that has nothing to do with it.
    # Empty: all of one day.
    a_days: tuple[tuple[bool, ...], ...] = ()
    b_days: tuple[tuple[bool, ...], ...] = ()

    @property
    def differs(self) -> bool:
        return self.a_passed * self.b_scored != self.b_passed * self.a_scored

    @property
    def difference(self) -> Fraction:
        """Pass rate of B less that of A, exactly."""
        return Fraction(self.b_passed, self.b_scored) - Fraction(self.a_passed, self.a_scored)

    @property
    def trials(self) -> dict[str, int]:
        """For machines: the counts alone."""
        return {name: getattr(self, name) for name in ("a_passed", "a_scored", "b_passed", "b_scored")}


def total(name: str, pairs: Collection[EvalPair]) -> EvalPair:
    """All trials of `pairs` together."""
    return EvalPair(
        name,
        sum(p.a_passed for p in pairs),
        sum(p.a_scored for p in pairs),
        sum(p.b_passed for p in pairs),
        sum(p.b_scored for p in pairs),
    )


@dataclass(frozen=True)
class Paired:
    """Two sides compared over the evals that both scored. Rates and differences are shares of 1, not points."""

    evals: int  # pairs
    differing: int  # pairs whose means differ
    a_rate: float | None  # mean of eval means; None of no pairs
    b_rate: float | None
    difference: float  # b_rate - a_rate; 0 of no pairs
    interval: tuple[float, float] | None  # 95 %, rounded outwards to a tenth of a point; None of fewer than two pairs
    p: float | None  # two-sided, corrected where a family was tested; None where nothing differs
    detectable: float | None  # the least true difference that would be found four times out of five; None: unknown
    more_trials: int | None  # per eval, until RELEVANT is detectable; 0: it is; None: unknown, or none would help
    verdict: Conclusion


def paired(pairs: Sequence[EvalPair], *, seed: int = 0) -> Paired:
    """Compare eval means over `pairs`, whose order does not matter.

    Pairing evals, and treating an eval's trials as a cluster: E. Miller, "Adding error bars to evals", arXiv:2411.00640
    (2024). The verdict says that something changed only where both p and the interval do; where p
    does not, the interval is widened until it holds 0, so that the two never contradict each other. `seed` is used
    only where trial counts are so mixed that the exact distributions are too large to be written down.
    """
    n = len(pairs)
    # Whole numbers, so that nothing hangs on rounding: `scale` steps make 1.
    scale = math.lcm(*(p.a_scored for p in pairs), *(p.b_scored for p in pairs))
    a_steps = [p.a_passed * (scale // p.a_scored) for p in pairs]
    b_steps = [p.b_passed * (scale // p.b_scored) for p in pairs]
    steps = sorted(b - a for a, b in zip(a_steps, b_steps, strict=True))
    spread = _spread(pairs, steps, scale)
    raw = Paired(
        evals=n,
        differing=n - steps.count(0),
        a_rate=sum(a_steps) / (n * scale) if n else None,
        b_rate=sum(b_steps) / (n * scale) if n else None,
        difference=sum(steps) / (n * scale) if n else 0.0,
        interval=bootstrap_interval(steps, scale, seed=seed),
        p=sign_flip_p(steps, seed=seed),
        detectable=spread.detectable if spread else None,
        more_trials=spread.more_trials if spread else None,
        verdict=Conclusion.TOO_FEW,
    )
    return _judged(raw)


def with_p(one: Paired, p: float | None) -> Paired:
    """The same comparison judged by another p: one that is corrected, say. The interval follows."""
    return _judged(replace(one, p=p))


def family(parts: Mapping[str, Paired]) -> dict[str, Paired]:
    """Several comparisons of one question (categories, or models), each judged by Holm's corrected p.

    Those with too few differing evals could not have been significant, whatever the direction of their differences;
    they are not counted as tests (Tarone 1990, as in `flips`) and keep their own p.
    """
    ps = holm([None if part.differing < FEWEST else part.p for part in parts.values()])
    return {name: part if p is None else with_p(part, p) for (name, part), p in zip(parts.items(), ps, strict=True)}


def _judged(one: Paired) -> Paired:
    interval = one.interval
    significant = one.p is not None and one.p <= ALPHA
    if interval and not significant:
        interval = min(interval[0], 0.0), max(interval[1], 0.0)
    if one.differing < FEWEST:
        verdict = Conclusion.TOO_FEW
    elif significant and interval and interval[0] > 0:
        verdict = Conclusion.IMPROVED
    elif significant and interval and interval[1] < 0:
        verdict = Conclusion.REGRESSED
    elif one.detectable is not None and one.detectable > RELEVANT:
        verdict = Conclusion.UNDERPOWERED
    else:
        verdict = Conclusion.NO_DIFFERENCE
    return replace(one, interval=interval, verdict=verdict)


@dataclass(frozen=True)
class _Spread:
    """Where the uncertainty of a mean difference comes from."""

    detectable: float
    more_trials: int | None


def _spread(pairs: Sequence[EvalPair], steps: Sequence[int], scale: int) -> _Spread | None:
    """None where nothing can be said: all evals alike, or so few that the test could never reject.

    Minimum detectable effect: H. S. Bloom, "Minimum detectable effects", Evaluation Review 19 (1995), 547-556. What
    more trials would do: Miller (2024): they lessen the variance within evals (binomial), not the one between evals,
    whose effects differ. Where these cannot be told apart (single trials, or no more variance than trials explain),
    all of it is taken to be within, which is the best case. No difference counts as detectable that moves too few evals
    for the test that is made (`power`).
    """
    n = len(steps)
    if n < FEWEST or steps[0] == steps[-1]:
        return None
    total = float(variance(Fraction(step, scale) for step in steps))  # rounded once
    # As wide as the interval is (`bootstrap_interval`): with few evals, wider than a normal distribution has it.
    factor = math.sqrt(n / (n - 1)) * student_975(n - 1) + NormalDist().inv_cdf(POWER)
    least = _least_movable(pairs, steps, scale)
    detectable = max(factor * math.sqrt(total / n), least)
    aim = n * (RELEVANT / factor) ** 2  # the variance of one eval's difference that is small enough
    if total <= aim:
        return _Spread(detectable, 0 if least <= RELEVANT else None)
    trials = sum(p.a_scored + p.b_scored for p in pairs) / (2 * n)
    within = _within(pairs)
    if within is None or not _vary_more(total, within, n):
        within = total
    between = max(0.0, total - within)
    if between >= aim:
        return _Spread(detectable, None)
    more = math.ceil(within * trials / (aim - between) - trials)
    return _Spread(detectable, max(1, more) if trials + more <= MOST_TRIALS else None)


def _least_movable(pairs: Sequence[EvalPair], steps: Sequence[int], scale: int) -> float:
    """The least mean difference that enough evals can show by their signs, if each moves as those here did on average.

    Single trials move by chance, too, and have to be outnumbered; of several trials, `_spread` has that.
    """
    moved = [abs(step) for step in steps if step]
    single = all(p.a_scored == p.b_scored == 1 for p in pairs)
    return least_shift(len(steps), len(moved) if single else 0) * sum(moved) / len(moved) / scale


def _within(pairs: Sequence[EvalPair]) -> float | None:
    """The mean over evals of the variance of their difference that trials alone explain; None of single trials."""
    sides = [(p.a_passed, p.a_scored) for p in pairs] + [(p.b_passed, p.b_scored) for p in pairs]
    repeated = [(k, n) for k, n in sides if n > 1]
    if not repeated:
        return None
    # Unbiased for the variance of one trial; sides with a single one are taken to vary like the others.
    one = sum(k * (n - k) / (n * (n - 1)) for k, n in repeated) / len(repeated)
    return one * sum(1 / n for _, n in sides) / len(pairs)


def _vary_more(total: float, within: float, n: int) -> bool:
    """Whether differences of `n` evals vary more than their trials explain, beyond doubt (chi-squared)."""
    return (n - 1) * total >= chi_squared_95(n - 1) * within
