"""How often the interval of a pass rate holds the rate over evals of its kind, and how often ranks are wrong.

    python scripts/simulate_ranking.py [--draws 2000]

Evals are drawn from their kind, each with a pass probability of its own, and each is tried once in a run. The interval
over evals of this kind is held against the mean of the kind, and so is Wilson's of all trials. Then models that are all
alike are ranked: every range of ranks that is not all of them is wrong. Prints the tables of docs/statistics.md; exits
with 1 where the interval holds less than 90 % of 5 or 10 evals, or 92 % of more, or more than 6 % of rankings have a
wrong range.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from convex_evals.stats import Rate, Tally, rank_ranges

_FEW = 10  # evals
_LEAST, _LEAST_OF_FEW, _MOST_WRONG = 0.92, 0.9, 0.06
_KINDS = {
    "0 or 1, mean 75%": (0.0, 0.0),
    "U-shaped, mean 75%": (0.6, 0.2),
    "U-shaped, mean 50%": (0.5, 0.5),
    "between, mean 75%": (3.0, 1.0),
    "all 75%": (None, None),
}
_EVALS, _RUNS = (5, 10, 20, 40, 111), (1, 3, 10)
_FIELDS = [(5, 40, 1), (5, 40, 10), (20, 40, 3), (20, 111, 10)]


def _rates(draw: np.random.Generator, kind: str, evals: int) -> NDArray[np.float64]:
    a, b = _KINDS[kind]
    if a is None or b is None:
        return np.full(evals, 0.75)
    return draw.beta(a, b, evals) if a else (draw.random(evals) < 0.75).astype(float)


def _mean(kind: str) -> float:
    a, b = _KINDS[kind]
    return a / (a + b) if a and b else 0.75


def _tallies(draw: np.random.Generator, rates: NDArray[np.float64], runs: int) -> list[Tally]:
    return [Tally(int(passed), runs) for passed in draw.binomial(runs, rates)]


@dataclass(frozen=True)
class Covered:
    """Shares of draws whose interval holds the truth, by the number of runs."""

    kind: str
    evals: int
    over_evals: tuple[float, ...]
    pooled: tuple[float, ...]  # Wilson's interval of all trials

    @property
    def kept(self) -> bool:
        return min(self.over_evals) >= (_LEAST_OF_FEW if self.evals <= _FEW else _LEAST)

    def __str__(self) -> str:
        cells = (f"{own:.1%} ({all_:.0%})" for own, all_ in zip(self.over_evals, self.pooled, strict=True))
        return f"| {self.kind} | {self.evals} | {' | '.join(cells)} |"


def coverage(draws: int, seed: int = 0) -> Iterator[Covered]:
    draw = np.random.default_rng(seed)
    for kind in _KINDS:
        for evals in _EVALS:
            shares = [_covered(draw, kind, evals, runs, draws) for runs in _RUNS]
            yield Covered(kind, evals, *zip(*shares, strict=True))


def _covered(draw: np.random.Generator, kind: str, evals: int, runs: int, draws: int) -> tuple[float, float]:
    mean, hits, pooled = _mean(kind), 0, 0
    for _ in range(draws):
        rate = Rate.of(_tallies(draw, _rates(draw, kind, evals), runs))
        (low, high), (lower, higher) = rate.interval or (0, 1), rate.interval_these_evals or (0, 1)
        hits += low <= mean <= high
        pooled += lower <= mean <= higher
    return hits / draws, pooled / draws


@dataclass(frozen=True)
class Ranked:
    models: int
    evals: int
    runs: int
    wrong: float  # share of rankings of equal models with a range that is not all ranks
    width: float  # mean number of ranks in a range, of models from 60 % to 93 % on an eval of middle difficulty

    @property
    def kept(self) -> bool:
        return self.wrong <= _MOST_WRONG

    def __str__(self) -> str:
        return f"| {self.models} | {self.evals} | {self.runs} | {self.wrong:.1%} | {self.width:.1f} |"


def rankings(draws: int, seed: int = 0) -> Iterator[Ranked]:
    draw = np.random.default_rng(seed)
    for models, evals, runs in _FIELDS:
        wrong, width = 0, 0
        for _ in range(draws):
            rates = draw.beta(0.6, 0.2, evals)
            field = [_field_of(draw, rates, runs) for _ in range(models)]
            wrong += any(found != (1, models) for found in rank_ranges(field))
        few = max(1, draws // 20)
        for _ in range(few):
            ease = draw.normal(1.5, 2.0, evals)
            strengths = np.linspace(-1.1, 1.1, models)
            field = [_field_of(draw, 1 / (1 + np.exp(-ease - one)), runs) for one in strengths]
            width += sum(worst - best + 1 for best, worst in rank_ranges(field))
        yield Ranked(models, evals, runs, wrong / draws, width / few / models)


def _field_of(draw: np.random.Generator, rates: NDArray[np.float64], runs: int) -> dict[str, Tally]:
    return {str(n): tally for n, tally in enumerate(_tallies(draw, rates, runs))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2_000)
    draws = parser.parse_args().draws
    kept = True
    print("| pass rates | evals | 1 run | 3 runs | 10 runs |\n|---|---:|---:|---:|---:|")
    for covered in coverage(draws):
        print(covered, flush=True)
        kept &= covered.kept
    print("\n| models | evals | runs | wrong rankings | ranks in a range |\n|---:|---:|---:|---:|---:|")
    for ranked in rankings(max(1, draws // 4)):
        print(ranked, flush=True)
        kept &= ranked.kept
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
