"""How often a difference is found that a comparison calls detectable: four times out of five is the promise.

    python scripts/simulate_power.py [--draws 1000]

Two sides pass each of some evals at one rate, and the other side at one higher by what the comparison of two equal
sides calls detectable, on average. Prints the table of docs/statistics.md; exits with 1 where less than three of
five, or more than twenty-four of twenty-five, are found. Where no such difference is possible (no rate is above 1), a
row says so.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from convex_evals.stats import Conclusion, EvalPair, Paired, paired

_FEWEST, _MOST = 3 / 5, 24 / 25
_CASES = [
    *((n, 1, rate) for n in (6, 10, 20, 40, 111) for rate in (0.05, 0.2)),
    *((n, trials, 0.3) for n in (10, 20, 40, 111) for trials in (3, 5)),
]


@dataclass(frozen=True)
class Row:
    evals: int
    trials: int
    rate: float
    detectable: float | None  # None: more than rates leave room for
    found: float | None

    @property
    def kept(self) -> bool:
        return self.found is None or _FEWEST <= self.found <= _MOST

    def __str__(self) -> str:
        ends = ("-", "-") if self.detectable is None else (f"{self.detectable * 100:.0f} points", f"{self.found:.0%}")
        return f"| {self.evals} | {self.trials} | {self.rate:.0%} | {ends[0]} | {ends[1]} |"


def _sample(draw: np.random.Generator, evals: int, trials: int, rate: float, effect: float) -> Paired:
    sides = draw.binomial(trials, rate, evals), draw.binomial(trials, rate + effect, evals)
    return paired(
        [EvalPair(f"{n}", int(a), trials, int(b), trials) for n, (a, b) in enumerate(zip(*sides, strict=True))]
    )


def simulate(draws: int, seed: int = 0) -> Iterator[Row]:
    draw = np.random.default_rng(seed)
    for evals, trials, rate in _CASES:
        equal = (_sample(draw, evals, trials, rate, 0).detectable for _ in range(100))
        known = [value for value in equal if value is not None]
        detectable = fmean(known) if known else 1.0
        if rate + detectable > 1:
            yield Row(evals, trials, rate, None, None)
            continue
        samples = (_sample(draw, evals, trials, rate, detectable) for _ in range(draws))
        found = sum(one.verdict is Conclusion.IMPROVED for one in samples) / draws
        yield Row(evals, trials, rate, detectable, found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1_000)
    rows = []
    print("| evals | trials | pass rate | detectable | found |\n|---:|---:|---:|---:|---:|")
    for row in simulate(parser.parse_args().draws):
        print(row, flush=True)
        rows.append(row)
    return 0 if all(row.kept for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
