"""Single evals that came out otherwise: which of them are more than chance."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from convex_evals.stats.multiple import holm
from convex_evals.stats.paired import EvalPair
from convex_evals.stats.power import ALPHA


class Surety(StrEnum):
    """How sure it is that one eval changed."""

    SURE = "sure"  # also among as many evals as there are
    LIKELY = "likely"  # if it had been the only eval
    CHANCE = "may be chance"


@dataclass(frozen=True)
class Flip:
    """An eval whose pass rate differs."""

    pair: EvalPair
    p: float  # of this eval alone, a day being one observation; 1 where each side has but one
    corrected: float | None  # for the evals that could have shown something; None: this is none of them
    surety: Surety

    @property
    def difference(self) -> float:
        return float(self.pair.difference)

    @property
    def has_days(self) -> bool:
        """Whether there were enough days for anything to be shown of one eval."""
        days = len(self.pair.a_days), len(self.pair.b_days)
        return self.corrected is not None or 2 / math.comb(sum(days), days[0]) <= ALPHA


def fisher(pair: EvalPair) -> float:
    """Two-sided p of one eval's trials, as if they were independent of each other.

    Source: R. A. Fisher, "On the interpretation of chi-squared from contingency tables, and the calculation of P",
    Journal of the Royal Statistical Society 85 (1922), 87-94; two-sided by adding up what is not more probable. Not
    `scipy.stats.fisher_exact`: to import that takes a second, and it finds ties up to rounding.
    """
    return _fisher(pair.a_passed, pair.a_scored, pair.b_passed, pair.b_scored)


@lru_cache(maxsize=10_000)
def _fisher(a_passed: int, a_scored: int, b_passed: int, b_scored: int) -> float:
    # Integers: whether two tables are equally probable must not hang on rounding.
    ways = _ways(a_passed + b_passed, a_scored, b_scored)
    observed = math.comb(a_scored, a_passed) * math.comb(b_scored, b_passed)
    return sum(n for n in ways if n <= observed) / sum(ways)


def _ways(passed: int, a_scored: int, b_scored: int) -> tuple[int, ...]:
    """In how many ways A can have 0, 1, ... of the `passed` trials."""
    low, high = max(0, passed - b_scored), min(a_scored, passed)
    return tuple(math.comb(a_scored, n) * math.comb(b_scored, passed - n) for n in range(low, high + 1))


def by_days(pair: EvalPair) -> float:
    """Two-sided p of one eval, a day of one side being one observation: how many of its trials passed.

    Trials of one day are more alike than their eval makes them: the provider's state of that day, a cache. Where both
    sides are alike, which days are A's is chance all the same, however alike trials of a day are. So days, whole, are
    dealt to the sides in all ways, and those are counted in which the means differ at least as much. With one trial a
    day this is Fisher's exact test. Source: M. H. Gail and others, "On design considerations and randomization-based
    inference for community intervention trials", Statistics in Medicine 15 (1996), 1069-1092.
    """
    return _by_days(*_days(pair))[0]


def _days(pair: EvalPair) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """What passed on each side's days, of as many trials of each: days with more could not be any other day.

    One day a side, whatever it had, where days are not known.
    """
    if not (pair.a_days and pair.b_days):
        return (0,), (0,)
    trials = min(map(len, (*pair.a_days, *pair.b_days)))
    a, b = (tuple(sorted(sum(day[:trials]) for day in side)) for side in (pair.a_days, pair.b_days))
    return a, b


@lru_cache(maxsize=100_000)
def _by_days(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[float, float]:
    """The p, and the smallest that the same days, otherwise dealt, could have had."""
    days, chosen, whole = (*a, *b), len(b), sum(a) + sum(b)
    # By the number of days dealt to B: in how many ways these have so many passes.
    ways: list[Counter[int]] = [Counter({0: 1}), *(Counter() for _ in range(chosen))]
    for passed in days:
        for dealt in range(chosen, 0, -1):
            for total, number in ways[dealt - 1].items():
                ways[dealt][total + passed] += number
    # Proportional to the difference of means; integers, for ties must not hang on rounding.
    apart: Counter[int] = Counter()
    for total, number in ways[chosen].items():
        apart[abs(total * len(days) - whole * chosen)] += number
    observed, of = abs(sum(b) * len(days) - whole * chosen), math.comb(len(days), chosen)
    return sum(n for size, n in apart.items() if size >= observed) / of, apart[max(apart)] / of


def flips(pairs: Sequence[EvalPair]) -> list[Flip]:
    """The evals whose pass rates differ, the surest first.

    `sure` is corrected (Holm) for all evals that could have been significant alone; which those are follows from
    what each day brought, not from which side it was on. Source: R. E. Tarone, "A modified Bonferroni method for
    discrete data", Biometrics 46 (1990), 515-522.
    """
    found = [_by_days(*_days(pair)) for pair in pairs]
    corrected = holm([p if least <= ALPHA else None for p, least in found])
    rows = [
        Flip(pair, p, for_all, _surety(p, for_all))
        for pair, (p, _), for_all in zip(pairs, found, corrected, strict=True)
        if pair.differs
    ]
    # Fisher's p says nothing where trials are of one day, but sorts well.
    return sorted(rows, key=lambda f: (f.p, fisher(f.pair), -abs(f.difference), f.pair.eval))


def _surety(p: float, corrected: float | None) -> Surety:
    if corrected is not None and corrected <= ALPHA:
        return Surety.SURE
    return Surety.LIKELY if p <= ALPHA else Surety.CHANCE
