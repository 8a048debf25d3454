"""How often our verdicts claim a change: where there is none, and where there is one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from convex_evals.stats import ALPHA, Conclusion, EvalPair, Paired, Surety, family, flips, paired, together
from scripts.simulation.drawing import draw, validated
from scripts.simulation.results import Power, Rate, RecipePower, Row
from scripts.simulation.setups import FAMILY, NULL, REAL, RECIPE_NULL, RECIPE_REAL, Recipe, Setup

CATEGORY = 14  # evals
MODELS = 6
RULE = 2  # regressions in a single sample that make a guideline "essential", as the rule of thumb has it
HUNKS = 3

Part = Callable[[int], Sequence[Row]]
S = TypeVar("S", Setup, Recipe)


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
