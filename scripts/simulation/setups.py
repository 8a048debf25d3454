"""The designs that are simulated: two sides, as `cli compare` sees them, and what `cli validate-guidelines` does."""

from __future__ import annotations

from dataclasses import dataclass, replace

from convex_evals.stats import CONFIRM_TRIALS, SCREEN_TRIALS

EFFECTS = (0.025, 0.05, 0.1, 0.15)
CORRELATION = 0.3


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
