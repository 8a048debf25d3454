"""False-alarm rates and power of our verdicts, simulated. docs/statistics.md shows the output.

    python scripts/simulate_aa.py [--experiments N] [--json] [--only TEXT]

Every simulated experiment is judged by the functions that `cli compare` and `cli validate-guidelines` use; nothing is
reimplemented here. In an A/A experiment both sides are the same model with the same guidelines, so any reported change
is a false alarm. Evals are easy or hard (their pass probabilities have a U-shaped distribution), and a trial is a coin
with its eval's probability. A side runs on one day or on several, and an eval's trials may be correlated within a day.
Exits with 1 if a false-alarm rate is significantly above 5 %.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from convex_evals.stats import (
    ALPHA,
    CONFIRM_TRIALS,
    SCREEN_TRIALS,
    Conclusion,
    Confirmation,
    EvalPair,
    Paired,
    Surety,
    confirm,
    family,
    flipped,
    flips,
    paired,
    together,
)
from scripts.command import start

EASE = (0.6, 0.2)  # parameters of the Beta distribution of pass probabilities: U-shaped, mean 0.75
REPAIRED = 0.8  # of an eval's failures, where a change helps it
CATEGORY = 14  # evals
MODELS = 6
RULE = 2  # regressions in a single sample that make a guideline "essential", as the rule of thumb has it
EFFECTS = (0.025, 0.05, 0.1, 0.15)
HOPELESS, FIXED = 0.05, 0.9  # chance of an eval to pass without, and with the one rule that it needs
HUNKS = 3

Counts = NDArray[np.int64]
Chances = NDArray[np.float64]
Changed = NDArray[np.bool_]
Trials = Sequence[Sequence[int]]  # by day


@dataclass(frozen=True)
class Setup:
    """The design of one experiment."""

    evals: int
    a_trials: int  # of each day
    b_trials: int
    correlation: float = 0.0  # of a side's trials within a day, given their eval: a good day, a cache
    unscored: float = 0.0  # share of trials
    effect: float = 0.0  # true difference, by repairing some of the evals
    a_days: int = 1
    b_days: int = 1

    @property
    def name(self) -> str:
        sides = [_days(self.a_days, self.a_trials), _days(self.b_days, self.b_trials)]
        notes = [f"correlated ({self.correlation:g})"] if self.correlation else []
        notes += [f"{self.unscored:.0%} unscored"] if self.unscored else []
        same = " and ".join(dict.fromkeys(sides))
        return ", ".join([f"{self.evals} evals x {same} trials", *notes])


def _days(days: int, trials: int) -> str:
    return f"{trials}" if days == 1 else f"{days} days x {trials}"


def _over(days: int, evals: int, trials: int, **rest: float) -> Setup:
    return Setup(evals, trials, trials, a_days=days, b_days=days, **rest)


CORRELATION = 0.3
PLAIN = [Setup(evals, trials, trials) for evals in (40, 111) for trials in (1, 3, 5)]
DAYS = [_over(5, 40, 1), _over(8, 40, 1), _over(8, 111, 1)]
NULL = [
    *PLAIN,
    *DAYS,
    Setup(40, 5, 5, correlation=CORRELATION),
    Setup(40, 5, 5, unscored=0.1),
    Setup(40, 1, 5),
    _over(5, 40, 3, correlation=CORRELATION),
    _over(8, 111, 3, correlation=CORRELATION),
    _over(5, 40, 3, correlation=0.8),
    _over(4, 40, 2, correlation=CORRELATION, unscored=0.1),
    Setup(40, 1, 5, correlation=CORRELATION, a_days=4, b_days=8),
    Setup(40, 5, 1, correlation=CORRELATION, a_days=4, b_days=8),
]
REAL = [replace(s, effect=effect) for s in (*PLAIN, *DAYS) for effect in EFFECTS]
FAMILY = Setup(40, 3, 3)


@dataclass(frozen=True)
class Recipe:
    """An experiment of `cli validate-guidelines`: a screening, then new trials of what flipped."""

    evals: int
    screen: int = SCREEN_TRIALS
    again: int = CONFIRM_TRIALS  # rounds of one trial
    correlation: float = 0.0  # of a side's trials within a run, given their eval
    of_day: float = 0.0  # likewise, of all trials of both sides: the day on which they ran
    of_hour: float = 0.0  # likewise, of the trials of one round, of both sides
    unscored: float = 0.0
    effect: float = 0.0  # as in `Setup`
    fixed: int = 0  # hopeless evals that the change makes easy, in addition

    @property
    def side(self) -> Setup:
        return Setup(self.evals, self.screen, self.screen, self.correlation, self.unscored, self.effect)

    @property
    def name(self) -> str:
        notes = [f"correlated ({self.correlation:g})"] if self.correlation else []
        notes += [f"correlated within a day ({self.of_day:g})"] if self.of_day else []
        notes += [f"correlated within a round ({self.of_hour:g})"] if self.of_hour else []
        notes += [f"{self.unscored:.0%} unscored"] if self.unscored else []
        return ", ".join([f"{self.evals} evals, {self.screen} then {self.again} trials", *notes])

    @property
    def truth(self) -> str:
        if self.fixed:
            return f"{self.fixed} fixed"
        return f"{self.effect * 100:+.1f}"


USUAL = [Recipe(evals) for evals in (8, 40, 111)]
RECIPE_NULL = [
    *USUAL,
    Recipe(40, screen=1),
    Recipe(40, unscored=0.1),
    Recipe(40, correlation=CORRELATION),
    Recipe(111, correlation=CORRELATION, unscored=0.1),
    Recipe(40, of_day=CORRELATION),
    Recipe(40, of_hour=CORRELATION),
]
RECIPE_REAL = [
    *(Recipe(evals, fixed=fixed) for evals in (8, 40) for fixed in (1, 3)),
    *(Recipe(40, effect=effect) for effect in EFFECTS),
    Recipe(111, effect=0.05),
    Recipe(40, screen=1, fixed=1),
    Recipe(40, screen=1, effect=0.05),
]


@dataclass(frozen=True)
class Rate:
    """How often a claim was made."""

    setup: str
    what: str
    claims: int
    of: int
    bound: float | None = None  # upper bound; None: no promise

    @property
    def rate(self) -> float:
        return self.claims / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """95 %. Source: C. J. Clopper and E. S. Pearson, Biometrika 26 (1934), 404-413."""
        k, n = self.claims, self.of
        low = 0.0 if k == 0 else float(betaincinv(k, n - k + 1, 0.025))
        return low, 1.0 if k == n else float(betaincinv(k + 1, n - k, 0.975))

    @property
    def ok(self) -> bool:
        return self.bound is None or self.interval[0] <= self.bound


@dataclass(frozen=True)
class Power:
    """Results of experiments with a true effect."""

    setup: str
    effect: float
    experiments: int
    improved: float  # share of them
    regressed: float
    category: float  # at least one category improved
    sure: float  # share of the evals that changed
    covered: float  # the interval holds the effect
    rule: float  # share that the single-sample rule would call essential


@dataclass(frozen=True)
class RecipePower:
    """Results of validating changes that have an effect."""

    setup: str
    truth: str
    experiments: int
    improved: float  # share of them
    regressed: float  # or mixed
    found: float  # share of the evals that changed for the better by half and more
    wrong: float  # share of experiments that confirm an eval which did not change
    covered: float  # the interval holds the effect on the evals that flipped
    calls: float  # mean of an experiment, both sides together


Row = Rate | Power | RecipePower
Part = Callable[[int], Sequence[Row]]
S = TypeVar("S", Setup, Recipe)


def draw(setup: Setup, experiments: int, random: np.random.Generator) -> tuple[Iterator[list[EvalPair]], Changed]:
    """The pairs of all experiments, and which of their evals were changed."""
    a_chance, b_chance, changed = _chances(setup, experiments, random)
    return _pairs(a_chance, b_chance, setup, random), changed


def _chances(setup: Setup, experiments: int, random: np.random.Generator) -> tuple[Chances, Chances, Changed]:
    shape = (experiments, setup.evals)
    a_chance = random.beta(*EASE, shape)
    # Repairing that share of evals raises the mean by the effect.
    share = setup.effect / (REPAIRED * EASE[1] / sum(EASE))
    changed = random.random(shape) < share
    return a_chance, np.where(changed, a_chance + REPAIRED * (1 - a_chance), a_chance), changed


def _pairs(a_chance: Chances, b_chance: Chances, setup: Setup, random: np.random.Generator) -> Iterator[list[EvalPair]]:
    """Of each experiment, those evals that both sides scored."""
    if setup.a_days == setup.b_days == 1:
        a = _trials(a_chance, setup.a_trials, setup, random)
        return _joined([*a, *_trials(b_chance, setup.b_trials, setup, random)])
    days = (
        _by_day(a_chance, setup.a_days, setup.a_trials, setup, random),
        _by_day(b_chance, setup.b_days, setup.b_trials, setup, random),
    )
    return (list(_of_days(days[0][at].tolist(), days[1][at].tolist())) for at in range(len(a_chance)))


def _joined(sides: Sequence[Counts]) -> Iterator[list[EvalPair]]:
    """The pairs of each experiment from what passed and what was scored, of A and of B."""
    names = [f"{n:03}" for n in range(sides[0].shape[1])]
    for at in range(len(sides[0])):
        rows = zip(names, *(side[at].tolist() for side in sides), strict=True)
        yield [EvalPair(*row) for row in rows if row[2] and row[4]]


def _of_days(a: Sequence[Trials], b: Sequence[Trials]) -> Iterator[EvalPair]:
    """The pairs of one experiment."""
    for n, sides in enumerate(zip(a, b, strict=True)):
        scored = [[tuple(trial > 0 for trial in day if trial >= 0) for day in side] for side in sides]
        own_a, own_b = (tuple(day for day in side if day) for side in scored)
        (a_passed, a_scored), (b_passed, b_scored) = (
            (sum(map(sum, side)), sum(map(len, side))) for side in (own_a, own_b)
        )
        if own_a and own_b:
            yield EvalPair(f"{n:03}", a_passed, a_scored, b_passed, b_scored, own_a, own_b)


def _by_day(chance: Chances, days: int, trials: int, setup: Setup, random: np.random.Generator) -> NDArray[np.int8]:
    """Of each experiment, eval, day and trial: 1 passed, 0 failed, -1 has no verdict."""
    chance = np.repeat(chance[:, :, None], days, axis=2)
    if setup.correlation:
        chance = _about(chance, setup.correlation, random)
    shape = (*chance.shape, trials)
    found = (random.random(shape, dtype=np.float32) < chance[:, :, :, None]).astype(np.int8)
    if setup.unscored:
        found[random.random(shape, dtype=np.float32) < setup.unscored] = -1
    return found


def _trials(chance: Chances, trials: int, setup: Setup, random: np.random.Generator) -> tuple[Counts, Counts]:
    """What passed and what was scored on one day."""
    if setup.correlation:
        chance = _about(chance, setup.correlation, random)
    scored = random.binomial(trials, 1 - setup.unscored, chance.shape)
    return random.binomial(scored, chance), scored


def _about(chance: Chances, correlation: float, random: np.random.Generator) -> Chances:
    """Random chances with these means; trials that share one have that correlation."""
    spread = 1 / correlation - 1
    return random.beta(np.maximum(chance * spread, 1e-9), np.maximum((1 - chance) * spread, 1e-9))


def by_category(pairs: Sequence[EvalPair]) -> dict[str, Paired]:
    parts = itertools.groupby(pairs, lambda pair: int(pair.eval) // CATEGORY)
    return family({str(number): paired(list(part)) for number, part in parts})


def single_sample(pairs: Sequence[EvalPair]) -> bool:
    """The rule's verdict on the first trial of each eval: B is with the guideline, A without it."""
    return sum(p.a_passed < p.b_passed for p in pairs if p.a_scored == p.b_scored == 1) >= RULE


def false_alarms(setup: Setup, experiments: int, random: np.random.Generator) -> list[Rate]:
    improved = regressed = categories = sure = likely = evals = rule = 0
    for pairs in draw(setup, experiments, random)[0]:
        verdict = paired(pairs).verdict
        improved += verdict is Conclusion.IMPROVED
        regressed += verdict is Conclusion.REGRESSED
        categories += any(part.verdict.shown for part in by_category(pairs).values())
        marks = [flip.surety for flip in flips(pairs)]
        sure += Surety.SURE in marks
        likely += sum(mark is not Surety.CHANCE for mark in marks)
        evals += len(pairs)
        rule += single_sample(pairs)
    rates = [
        Rate(setup.name, "improved or regressed", improved + regressed, experiments, ALPHA),
        Rate(setup.name, "any category, after Holm", categories, experiments, ALPHA),
        Rate(setup.name, "any eval marked sure", sure, experiments, ALPHA),
        Rate(setup.name, "an eval marked likely", likely, evals, ALPHA),
    ]
    if setup == Setup(setup.evals, 1, 1):
        rates.append(Rate(setup.name, f'rule ">= {RULE} regressions = essential"', rule, experiments))
    return rates


def model_alarms(setup: Setup, experiments: int, random: np.random.Generator) -> list[Rate]:
    drawn, _ = draw(setup, experiments * MODELS, random)
    claims = 0
    for _ in range(experiments):
        models = family({str(n): paired(next(drawn)) for n in range(MODELS)})
        claims += any(one.verdict.shown for one in models.values())
    return [Rate(setup.name, f"any of {MODELS} models, after Holm", claims, experiments, ALPHA)]


def power(setup: Setup, experiments: int, random: np.random.Generator) -> list[Power]:
    drawn, changed = draw(setup, experiments, random)
    improved = regressed = category = sure = covered = rule = 0
    for pairs, was_changed in zip(drawn, changed, strict=True):
        one = paired(pairs)
        improved += one.verdict is Conclusion.IMPROVED
        regressed += one.verdict is Conclusion.REGRESSED
        category += any(part.verdict is Conclusion.IMPROVED for part in by_category(pairs).values())
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


def validated(
    recipe: Recipe, experiments: int, random: np.random.Generator
) -> Iterator[tuple[Confirmation, Chances, Changed]]:
    """What `cli validate-guidelines` would say, with the true differences of the evals and which of them changed."""
    a_chance, b_chance, changed = _chances(recipe.side, experiments, random)
    changed[:, : recipe.fixed] = True
    a_chance[:, : recipe.fixed], b_chance[:, : recipe.fixed] = HOPELESS, FIXED
    if recipe.of_day:
        # An A/A experiment: the day is the same for both sides.
        a_chance = b_chance = _about(a_chance, recipe.of_day, random)
    screened = _pairs(a_chance, b_chance, recipe.side, random)
    rounds = _rounds(recipe, a_chance, b_chance, random)
    for screen, new, gain, which in zip(screened, rounds, b_chance - a_chance, changed, strict=True):
        names = set(flipped(screen))
        yield confirm(screen, [pair for pair in new if pair.eval in names]), gain, which


def _rounds(
    recipe: Recipe, a_chance: Chances, b_chance: Chances, random: np.random.Generator
) -> Iterator[list[EvalPair]]:
    """The second step: rounds of one trial per side, each a separate run."""
    one = replace(recipe.side, a_trials=1, b_trials=1)
    a, b = [], []
    for _ in range(recipe.again):
        sides = a_chance, b_chance
        if recipe.of_hour:
            sides = (_about(a_chance, recipe.of_hour, random),) * 2
        a.append(_trials(sides[0], 1, one, random))
        b.append(_trials(sides[1], 1, one, random))
    return _joined([sum((day[at] for day in side), np.zeros_like(side[0][0])) for side in (a, b) for at in (0, 1)])


def recipe_alarms(recipe: Recipe, experiments: int, random: np.random.Generator) -> list[Rate]:
    claims = evals = either = 0
    for one, _, _ in validated(recipe, experiments, random):
        confirmed = any(e.confirmed for e in one.evals)
        claims += one.verdict.shown
        evals += confirmed
        either += one.verdict.shown or confirmed
    return [
        Rate(recipe.name, "improved, regressed or mixed", claims, experiments, ALPHA),
        Rate(recipe.name, "any eval improved or regressed", evals, experiments, ALPHA),
        Rate(recipe.name, "any claim", either, experiments, ALPHA),
    ]


def hunk_alarms(recipe: Recipe, experiments: int, random: np.random.Generator) -> list[Rate]:
    drawn = validated(recipe, experiments * HUNKS, random)
    hunks = evals = 0
    for _ in range(experiments):
        found = together([next(drawn)[0] for _ in range(HUNKS)])
        hunks += any(one.verdict.shown for one in found)
        evals += any(e.confirmed for one in found for e in one.evals)
    name = f"{recipe.name}, {HUNKS} hunks"
    return [
        Rate(name, "any hunk, after Holm", hunks, experiments, ALPHA),
        Rate(name, "any eval of any hunk", evals, experiments, ALPHA),
    ]


def recipe_power(recipe: Recipe, experiments: int, random: np.random.Generator) -> list[RecipePower]:
    improved = regressed = found = wrong = covered = calls = large = 0
    for one, gain, changed in validated(recipe, experiments, random):
        improved += one.verdict is Conclusion.IMPROVED
        regressed += one.verdict in (Conclusion.REGRESSED, Conclusion.MIXED)
        better = gain >= 0.5
        large += int(better.sum())
        found += sum(bool(better[int(e.pair.eval)]) for e in one.improved)
        wrong += any(not changed[int(e.pair.eval)] or e in one.regressed for e in one.improved + one.regressed)
        low, high = one.interval or (0.0, 0.0)
        covered += low <= sum(gain[int(name)] for name in one.flipped) / recipe.evals <= high
        calls += 2 * (recipe.evals * recipe.screen + len(one.flipped) * recipe.again)
    return [
        RecipePower(
            setup=recipe.name,
            truth=recipe.truth,
            experiments=experiments,
            improved=improved / experiments,
            regressed=regressed / experiments,
            found=found / large,
            wrong=wrong / experiments,
            covered=covered / experiments,
            calls=calls / experiments,
        )
    ]


def parts() -> dict[str, Part]:
    """By name. Each starts from its own seed, so that running one alone gives the same result."""
    found: dict[str, Part] = {}
    for seed, setup in enumerate(NULL):
        found[f"A/A {setup.name}"] = partial(_seeded, false_alarms, setup, seed)
    found[f"A/A {FAMILY.name}, {MODELS} models"] = partial(_seeded, model_alarms, FAMILY, 99)
    for seed, setup in enumerate(REAL, 100):
        found[f"A/B {setup.name} {setup.effect * 100:+g}"] = partial(_seeded, power, setup, seed)
    for seed, recipe in enumerate(RECIPE_NULL, 200):
        found[f"recipe A/A {recipe.name}"] = partial(_seeded, recipe_alarms, recipe, seed)
    found[f"recipe A/A {HUNKS} hunks"] = partial(_seeded, hunk_alarms, Recipe(40), 299)
    for seed, recipe in enumerate(RECIPE_REAL, 300):
        found[f"recipe A/B {recipe.name} {recipe.truth}"] = partial(_seeded, recipe_power, recipe, seed)
    return found


def _seeded(
    simulated: Callable[[S, int, np.random.Generator], Sequence[Row]], setup: S, seed: int, experiments: int
) -> Sequence[Row]:
    return simulated(setup, experiments, np.random.default_rng(seed))


@dataclass(frozen=True)
class Simulation:
    """All results."""

    rates: Sequence[Rate] = ()
    powers: Sequence[Power] = ()
    recipe: Sequence[RecipePower] = ()

    @property
    def ok(self) -> bool:
        return all(rate.ok for rate in self.rates)


def simulate(experiments: int, only: str) -> Simulation:
    """The parts whose name contains `only`, or the one of exactly that name."""
    start = time.monotonic()
    known = parts()
    found: list[Row] = []
    for name in [only] if only in known else [name for name in known if only in name]:
        print(f"{time.monotonic() - start:6.1f} s  {name}", file=sys.stderr, flush=True)
        found += known[name](experiments)
    print(f"{time.monotonic() - start:6.1f} s", file=sys.stderr)
    return Simulation(
        [row for row in found if isinstance(row, Rate)],
        [row for row in found if isinstance(row, Power)],
        [row for row in found if isinstance(row, RecipePower)],
    )


def to_data(found: Simulation) -> dict[str, Any]:
    alarms = [{**asdict(r), "rate": r.rate, "interval": r.interval, "ok": r.ok} for r in found.rates]
    return {
        "false_alarms": alarms,
        "power": [asdict(p) for p in found.powers],
        "recipe": [asdict(p) for p in found.recipe],
    }


def from_data(data: dict[str, Any]) -> Simulation:
    """What `to_data` wrote; docs/statistics.md shows a file of it."""
    names = [field.name for field in fields(Rate)]
    return Simulation(
        [Rate(**{n: row[n] for n in names}) for row in data["false_alarms"]],
        [Power(**row) for row in data["power"]],
        [RecipePower(**row) for row in data["recipe"]],
    )


def of_recipe(found: Simulation) -> tuple[Simulation, Simulation]:
    """What is about comparisons, and what is about the recipe of `cli validate-guidelines`."""
    own = [rate for rate in found.rates if " then " in rate.setup]
    rest = [rate for rate in found.rates if " then " not in rate.setup]
    return Simulation(rest, found.powers), Simulation(own, (), found.recipe)


def render(found: Simulation) -> str:
    lines = ["False alarms: both sides are the same"] if found.rates else []
    before = ""
    for rate in found.rates:
        if rate.setup != before:
            lines.append(f"\n  {rate.setup}")
            before = rate.setup
        low, high = rate.interval
        note = "" if rate.bound is None else "  ok" if rate.ok else f"  ABOVE {rate.bound:.0%}"
        counted = f"{rate.claims} of {rate.of}"
        lines.append(f"    {rate.what:37} {rate.rate:7.2%}  [{low:6.2%}, {high:6.2%}]  {counted:>17}{note}")
    if found.powers:
        lines += ["", "Power: B is truly better by the given number of points", ""]
        header = f"  {'':28} {'effect':>6}  improved  regressed  a category  sure evals  coverage"
        lines.append(f"{header}  rule")
        for p in found.powers:
            rule = f"{p.rule:6.1%}" if p.setup.endswith("evals x 1 trials") else "     -"
            lines.append(
                f"  {p.setup:28} {p.effect * 100:+6.1f}  {p.improved:8.1%}  {p.regressed:9.2%}  {p.category:10.1%}  "
                f"{p.sure:10.1%}  {p.covered:8.1%}  {rule}"
            )
    if found.recipe:
        lines += ["", "Power of the recipe: B is truly better", ""]
        lines.append(f"  {'':30} {'truth':>8}  improved  regressed  evals found  wrong evals  coverage  calls")
        for r in found.recipe:
            lines.append(
                f"  {r.setup:30} {r.truth:>8}  {r.improved:8.1%}  {r.regressed:9.2%}  {r.found:11.1%}  "
                f"{r.wrong:11.2%}  {r.covered:8.1%}  {r.calls:5.0f}"
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
    found = simulate(options.experiments, options.only)
    if found == Simulation([], [], []):
        parser.error(f"--only {options.only}: no part is called that")
    if options.json:
        print(json.dumps(to_data(found), indent=2))
    else:
        print(render(found))
    return 0 if found.ok else 1


if __name__ == "__main__":
    start(main)
