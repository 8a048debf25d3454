"""How often our verdicts are wrong, and how often they find what is there. docs/statistics.md shows the output.

    python scripts/simulate_aa.py [--experiments N] [--json] [--only TEXT]

Every simulated experiment is judged by the functions that `cli compare` uses, nothing is written anew here. In an A/A
experiment both sides are the same model with the same guidelines, so whatever is reported is a false alarm. Evals are
easy or hard (their pass probabilities have a U-shaped distribution), and a trial is a coin with its eval's probability:
trials of one eval are alike. Exits with 1 where a false-alarm rate is above 5 % beyond doubt.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from convex_evals.stats import ALPHA, EvalPair, Paired, Surety, Verdict, family, flips, paired

EASE = (0.6, 0.2)  # parameters of the Beta distribution of pass probabilities: U-shaped, mean 0.75
REPAIRED = 0.8  # of an eval's failures, where a change helps it
CATEGORY = 14  # evals
MODELS = 6
RULE = 2  # regressions in a single sample that make a guideline "essential", as the rule of thumb has it
EFFECTS = (0.025, 0.05, 0.1, 0.15)

Counts = NDArray[np.int64]
Changed = NDArray[np.bool_]


@dataclass(frozen=True)
class Setup:
    """What one experiment consists of."""

    evals: int
    a_trials: int
    b_trials: int
    alike: float = 0.0  # correlation of a side's trials beyond their eval: a good day, a cache, a temperature of 0
    unscored: float = 0.0  # share of trials
    effect: float = 0.0  # true difference, by repairing some of the evals

    @property
    def name(self) -> str:
        sides = f"{self.a_trials}" if self.a_trials == self.b_trials else f"{self.a_trials} and {self.b_trials}"
        notes = [f"alike ({self.alike:g})"] if self.alike else []
        notes += [f"{self.unscored:.0%} unscored"] if self.unscored else []
        return ", ".join([f"{self.evals} evals x {sides} trials", *notes])


PLAIN = [Setup(evals, trials, trials) for evals in (40, 111) for trials in (1, 3, 5)]
NULL = [*PLAIN, Setup(40, 5, 5, alike=0.3), Setup(40, 5, 5, unscored=0.1), Setup(40, 1, 5)]
REAL = [Setup(s.evals, s.a_trials, s.b_trials, effect=effect) for s in PLAIN for effect in EFFECTS]
FAMILY = Setup(40, 3, 3)


@dataclass(frozen=True)
class Rate:
    """How often something was said."""

    setup: str
    what: str
    said: int
    of: int
    bound: float | None = None  # the most that it may be; None: nothing is promised

    @property
    def rate(self) -> float:
        return self.said / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """95 %. Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934), 404-413."""
        k, n = self.said, self.of
        low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, 0.025))
        return low, 1.0 if k == n else float(betaincinv(k + 1, n - k, 0.975))

    @property
    def ok(self) -> bool:
        return self.bound is None or self.interval[0] <= self.bound


@dataclass(frozen=True)
class Power:
    """What comes of experiments with a true effect."""

    setup: str
    effect: float
    experiments: int
    improved: float  # share of them
    regressed: float
    category: float  # at least one category improved
    sure: float  # share of the evals that changed
    covered: float  # the interval holds the effect
    rule: float  # what the single-sample rule would call essential


Simulated = Callable[[Setup, int, np.random.Generator], Sequence[Rate | Power]]
Part = Callable[[int], Sequence[Rate | Power]]


def draw(setup: Setup, experiments: int, random: np.random.Generator) -> tuple[Iterator[list[EvalPair]], Changed]:
    """The pairs of all experiments, and which of their evals were changed."""
    shape = (experiments, setup.evals)
    a_chance = random.beta(*EASE, shape)
    # Repairing that share of evals raises the mean by the effect.
    share = setup.effect / (REPAIRED * EASE[1] / sum(EASE))
    changed = random.random(shape) < share
    b_chance = np.where(changed, a_chance + REPAIRED * (1 - a_chance), a_chance)
    sides = (*_trials(a_chance, setup.a_trials, setup, random), *_trials(b_chance, setup.b_trials, setup, random))
    names = [f"{n:03}" for n in range(setup.evals)]
    pairs = (
        [EvalPair(*row) for row in zip(names, *(side[at].tolist() for side in sides), strict=True) if row[2] and row[4]]
        for at in range(experiments)
    )
    return pairs, changed


def _trials(
    chance: NDArray[np.float64], trials: int, setup: Setup, random: np.random.Generator
) -> tuple[Counts, Counts]:
    if setup.alike:
        spread = 1 / setup.alike - 1
        chance = random.beta(np.maximum(chance * spread, 1e-9), np.maximum((1 - chance) * spread, 1e-9))
    scored = random.binomial(trials, 1 - setup.unscored, chance.shape)
    return random.binomial(scored, chance), scored


def by_category(pairs: Sequence[EvalPair]) -> dict[str, Paired]:
    parts = itertools.groupby(pairs, lambda pair: int(pair.eval) // CATEGORY)
    return family({str(number): paired(list(part)) for number, part in parts})


def single_sample(pairs: Sequence[EvalPair]) -> bool:
    """What the rule says to the first trial of each eval: B is with the guideline, A without it."""
    return sum(p.a_passed < p.b_passed for p in pairs if p.a_scored == p.b_scored == 1) >= RULE


def false_alarms(setup: Setup, experiments: int, random: np.random.Generator) -> list[Rate]:
    improved = regressed = categories = sure = likely = evals = rule = 0
    for pairs in draw(setup, experiments, random)[0]:
        verdict = paired(pairs).verdict
        improved += verdict is Verdict.IMPROVED
        regressed += verdict is Verdict.REGRESSED
        categories += any(part.verdict.shown for part in by_category(pairs).values())
        marks = [flip.surety for flip in flips(pairs)]
        sure += Surety.SURE in marks
        likely += sum(mark is not Surety.CHANCE for mark in marks)
        evals += len(pairs)
        rule += single_sample(pairs)
    # The marks of single evals take an eval's trials to be independent.
    promised = None if setup.alike else ALPHA
    rates = [
        Rate(setup.name, "improved or regressed", improved + regressed, experiments, ALPHA),
        Rate(setup.name, "any category, after Holm", categories, experiments, ALPHA),
        Rate(setup.name, "any eval marked sure", sure, experiments, promised),
        Rate(setup.name, "an eval marked likely", likely, evals, promised),
    ]
    if setup.a_trials == setup.b_trials == 1:
        rates.append(Rate(setup.name, f'rule ">= {RULE} regressions = essential"', rule, experiments))
    return rates


def model_alarms(setup: Setup, experiments: int, random: np.random.Generator) -> list[Rate]:
    drawn, _ = draw(setup, experiments * MODELS, random)
    said = 0
    for _ in range(experiments):
        models = family({str(n): paired(next(drawn)) for n in range(MODELS)})
        said += any(one.verdict.shown for one in models.values())
    return [Rate(setup.name, f"any of {MODELS} models, after Holm", said, experiments, ALPHA)]


def power(setup: Setup, experiments: int, random: np.random.Generator) -> list[Power]:
    drawn, changed = draw(setup, experiments, random)
    improved = regressed = category = sure = covered = rule = 0
    for pairs, was_changed in zip(drawn, changed, strict=True):
        one = paired(pairs)
        improved += one.verdict is Verdict.IMPROVED
        regressed += one.verdict is Verdict.REGRESSED
        category += any(part.verdict is Verdict.IMPROVED for part in by_category(pairs).values())
        sure += sum(f.surety is Surety.SURE and bool(was_changed[int(f.pair.eval)]) for f in flips(pairs))
        covered += one.interval is not None and one.interval[0] <= setup.effect <= one.interval[1]
        rule += single_sample(pairs)
    return [
        Power(
            setup=setup.name,
            effect=setup.effect,
            experiments=experiments,
            improved=improved / experiments,
            regressed=regressed / experiments,
            category=category / experiments,
            sure=sure / int(changed.sum()),
            covered=covered / experiments,
            rule=rule / experiments,
        )
    ]


def parts() -> dict[str, Part]:
    """By name. Each begins from a seed of its own, so that one alone comes out as it does among the others."""
    found: dict[str, Part] = {}
    for seed, setup in enumerate(NULL):
        found[f"A/A {setup.name}"] = partial(_seeded, false_alarms, setup, seed)
    found[f"A/A {FAMILY.name}, {MODELS} models"] = partial(_seeded, model_alarms, FAMILY, 99)
    for seed, setup in enumerate(REAL, 100):
        found[f"A/B {setup.name} {setup.effect * 100:+g}"] = partial(_seeded, power, setup, seed)
    return found


def _seeded(simulated: Simulated, setup: Setup, seed: int, experiments: int) -> Sequence[Rate | Power]:
    return simulated(setup, experiments, np.random.default_rng(seed))


def simulate(experiments: int, only: str) -> tuple[list[Rate], list[Power]]:
    """The parts whose name contains `only`, or the one of exactly that name."""
    start = time.monotonic()
    known = parts()
    found: list[Rate | Power] = []
    for name in [only] if only in known else [name for name in known if only in name]:
        print(f"{time.monotonic() - start:6.1f} s  {name}", file=sys.stderr, flush=True)
        found += known[name](experiments)
    print(f"{time.monotonic() - start:6.1f} s", file=sys.stderr)
    return [r for r in found if isinstance(r, Rate)], [p for p in found if isinstance(p, Power)]


def to_data(rates: Sequence[Rate], powers: Sequence[Power]) -> dict[str, Any]:
    alarms = [{**asdict(r), "rate": r.rate, "interval": r.interval, "ok": r.ok} for r in rates]
    return {"false_alarms": alarms, "power": [asdict(p) for p in powers]}


def from_data(data: dict[str, Any]) -> tuple[list[Rate], list[Power]]:
    """What `to_data` wrote; docs/statistics.md shows a file of it."""
    names = [field.name for field in fields(Rate)]
    return [Rate(**{n: row[n] for n in names}) for row in data["false_alarms"]], [Power(**row) for row in data["power"]]


def render(rates: Sequence[Rate], powers: Sequence[Power]) -> str:
    lines = ["False alarms: both sides are the same"] if rates else []
    before = ""
    for rate in rates:
        if rate.setup != before:
            lines.append(f"\n  {rate.setup}")
            before = rate.setup
        low, high = rate.interval
        note = "" if rate.bound is None else "  ok" if rate.ok else f"  ABOVE {rate.bound:.0%}"
        counted = f"{rate.said} of {rate.of}"
        lines.append(f"    {rate.what:37} {rate.rate:7.2%}  [{low:6.2%}, {high:6.2%}]  {counted:>17}{note}")
    if powers:
        lines += ["", "Power: what is said where B is truly better by so many points", ""]
        header = f"  {'':21} {'effect':>6}  improved  regressed  a category  sure evals  interval right"
        lines.append(f"{header}  rule")
        for p in powers:
            rule = f"{p.rule:6.1%}" if p.setup.endswith("x 1 trials") else "     -"
            lines.append(
                f"  {p.setup:21} {p.effect * 100:+6.1f}  {p.improved:8.1%}  {p.regressed:9.2%}  {p.category:10.1%}  "
                f"{p.sure:10.1%}  {p.covered:14.1%}  {rule}"
            )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--experiments", type=int, default=10_000, metavar="N", help="of each kind; default 10000")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="the parts whose name contains it: 'A/A', '40 evals'"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.experiments < 1:
        parser.error("--experiments must be at least 1")
    rates, powers = simulate(options.experiments, options.only)
    if not rates and not powers:
        parser.error(f"--only {options.only}: no part is called that")
    if options.json:
        print(json.dumps(to_data(rates, powers), indent=2))
    else:
        print(render(rates, powers))
    return 0 if all(rate.ok for rate in rates) else 1


if __name__ == "__main__":
    sys.exit(main())
