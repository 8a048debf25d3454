"""Single evals that came out otherwise: which of them are more than chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from convex_evals.stats.multiple import holm
from convex_evals.stats.paired import ALPHA, EvalPair


class Surety(StrEnum):
    """How sure it is that one eval changed."""

    SURE = "sure"  # also among as many evals as there are
    LIKELY = "likely"  # if it had been the only eval
    CHANCE = "may be chance"


@dataclass(frozen=True)
class Flip:
    """An eval whose pass rate differs."""

    pair: EvalPair
    p: float  # of this eval alone
    corrected: float | None  # for the evals that could have shown something; None: this is none of them
    surety: Surety

    @property
    def difference(self) -> float:
        return float(self.pair.difference)


def fisher(pair: EvalPair) -> float:
    """Two-sided p of one eval's trials, as if they were independent of each other.

    Source: R. A. Fisher, "On the interpretation of chi-squared from contingency tables, and the calculation of P",
    Journal of the Royal Statistical Society 85 (1922), 87-94; two-sided by adding up what is not more probable.
    """
    return _fisher(pair.a_passed, pair.a_scored, pair.b_passed, pair.b_scored)


@lru_cache(maxsize=10_000)
def _fisher(a_passed: int, a_scored: int, b_passed: int, b_scored: int) -> float:
    # Integers: whether two tables are equally probable must not hang on rounding.
    ways = _ways(a_passed + b_passed, a_scored, b_scored)
    observed = math.comb(a_scored, a_passed) * math.comb(b_scored, b_passed)
    return sum(n for n in ways if n <= observed) / sum(ways)


@lru_cache(maxsize=10_000)
def _least(passed: int, a_scored: int, b_scored: int) -> float:
    """The smallest p that an eval could have had, going by its trials and by how many of them passed."""
    ways = _ways(passed, a_scored, b_scored)
    fewest = min(ways)
    return sum(n for n in ways if n == fewest) / sum(ways)


def _ways(passed: int, a_scored: int, b_scored: int) -> tuple[int, ...]:
    """In how many ways A can have 0, 1, ... of the `passed` trials."""
    low, high = max(0, passed - b_scored), min(a_scored, passed)
    return tuple(math.comb(a_scored, n) * math.comb(b_scored, passed - n) for n in range(low, high + 1))


def flips(pairs: Sequence[EvalPair]) -> list[Flip]:
    """The evals whose pass rates differ, the surest first.

    `sure` is corrected (Holm) for all evals that could have been significant alone; which those are follows from
    their trials and from how many passed on both sides together, not from which side they passed on. Source: R. E.
    Tarone, "A modified Bonferroni method for discrete data", Biometrics 46 (1990), 515-522.
    """
    tested = [fisher(p) if _least(p.a_passed + p.b_passed, p.a_scored, p.b_scored) <= ALPHA else None for p in pairs]
    found = [
        Flip(pair, p := fisher(pair), corrected, _surety(p, corrected))
        for pair, corrected in zip(pairs, holm(tested), strict=True)
        if pair.differs
    ]
    return sorted(found, key=lambda f: (f.p, -abs(f.difference), f.pair.eval))


def _surety(p: float, corrected: float | None) -> Surety:
    if corrected is not None and corrected <= ALPHA:
        return Surety.SURE
    return Surety.LIKELY if p <= ALPHA else Surety.CHANCE
