"""Of one side alone: pass rates with their intervals, several trials of one eval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from convex_evals.stats.quantiles import student_975

_Z95 = NormalDist().inv_cdf(0.975)


class Tally(NamedTuple):
    """Trials, of one eval say."""

    passed: int
    scored: int


def pooled(runs: Iterable[Mapping[str, Tally]]) -> dict[str, Tally]:
    """The trials of several runs together, by eval id."""
    passed: dict[str, int] = {}
    scored: dict[str, int] = {}
    for run in runs:
        for name, (own_passed, own_scored) in run.items():
            passed[name] = passed.get(name, 0) + own_passed
            scored[name] = scored.get(name, 0) + own_scored
    return {name: Tally(passed[name], scored[name]) for name in passed}


@dataclass(frozen=True)
class Rate:
    """A pass rate of trials, with how far it can be trusted in two senses.

    Each interval holds 95 %, has both ends in [0, 1], and is None where nothing was scored. They are the same where
    each eval has one trial.
    """

    passed: int  # trials
    scored: int
    evals: int  # with a scored trial
    interval: tuple[float, float] | None  # over evals of this kind: these are a sample of them
    interval_these_evals: tuple[float, float] | None  # over further replies to these very evals

    @classmethod
    def of(cls, evals: Iterable[Tally]) -> Rate:
        """That of the trials of some evals, a tally for each eval."""
        own = [each for each in evals if each.scored]
        whole = Tally(sum(each.passed for each in own), sum(each.scored for each in own))
        these = wilson(*whole)
        return cls(*whole, len(own), these if whole.scored == len(own) else _over_evals(own, whole), these)

    @property
    def pass_rate(self) -> float | None:
        """In [0, 1]; None where nothing was scored."""
        return self.passed / self.scored if self.scored else None


def wilson(passed: float, scored: float) -> tuple[float, float] | None:
    """The 95 % score interval for `passed` of `scored` independent trials, both ends in [0, 1]; None of no trials.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22 (1927), 209-212; without continuity correction.

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


def _over_evals(evals: Sequence[Tally], whole: Tally) -> tuple[float, float] | None:
    """The interval of the pass rate of the `whole` where evals are drawn from their kind.

    Trials of one eval resemble each other, so together they are worth fewer independent ones: as many as would vary as
    much as the evals do, less what is lost because that variance is estimated. They are worth at least one for each
    eval, as they are where an eval's trials always agree.

    Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of positive
    counts estimated from survey data", Survey Methodology 24 (1998), 193-201; with Wilson's interval as in N. Dean and
    M. Pagano, "Evaluating confidence interval methods for binomial proportions in clustered surveys", Journal of Survey
    Statistics and Methodology 3 (2015), 484-503.
    """
    n, (passed, scored) = len(evals), whole
    worth = float(n)
    if n > 1 and 0 < passed < scored:
        # By the variance of a ratio of sums: W. G. Cochran, "Sampling techniques" (1977), 6.3.
        squares = sum((each.passed * scored - each.scored * passed) ** 2 for each in evals)
        alike = passed * (scored - passed) * scored**2 * (n - 1) / (n * squares) if squares else math.inf
        worth = max(worth, min(alike, scored) * (_Z95 / student_975(n - 1)) ** 2)
    return wilson(passed / scored * worth, worth)


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
