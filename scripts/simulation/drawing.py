"""Experiments drawn at random: chances of evals, trials, and the pairs that they come to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from convex_evals.stats import Confirmation, EvalPair, confirm, flipped
from scripts.simulation.setups import Recipe, Setup

EASE = (0.6, 0.2)  # parameters of the Beta distribution of pass probabilities: U-shaped, mean 0.75
REPAIRED = 0.8  # of an eval's failures, where a change helps it
HOPELESS, FIXED = 0.05, 0.9  # chance of an eval to pass without, and with the one rule that it needs

Counts = NDArray[np.int64]
Chances = NDArray[np.float64]
Changed = NDArray[np.bool_]
Trials = Sequence[Sequence[int]]  # by day


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
