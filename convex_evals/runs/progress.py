"""How far the trials of a command are, what they cost, and when they will be done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from convex_evals.records import Counts, Outcome
from convex_evals.render.numbers import dollars, percent, rough_duration
from convex_evals.runs.runner import TrialDone
from convex_evals.text import plural

# Fewer say nothing about how long the others take.
_ENOUGH = 3


@dataclass
class Progress:
    """Counts what one command has done; trials that were found done before take no time and cost nothing more."""

    total: int  # trials
    clock: Callable[[], float] = time.monotonic  # seconds
    counts: Counts = field(default_factory=Counts)
    asked: int = 0  # trials that were only asked
    made: int = 0  # trials that were not found
    cost_usd: float = 0.0
    _start: float = field(init=False)

    def __post_init__(self) -> None:
        self._start = self.clock()

    def add(self, done: TrialDone) -> None:
        outcome = done.verdict.outcome if done.verdict else None
        self.counts += Counts(
            passed=outcome is Outcome.PASSED,
            failed=outcome is Outcome.FAILED,
            unscored=outcome is Outcome.UNSCORED,
        )
        self.asked += outcome is None
        if not done.reused:
            self.made += 1
            self.cost_usd += done.generation.cost_usd if done.generation.reused_from is None else 0.0
            self.cost_usd += done.verdict.judge_cost_usd if done.verdict else 0.0

    @property
    def done(self) -> int:
        return self.asked + self.counts.scored + self.counts.unscored

    @property
    def left_s(self) -> float | None:
        """Seconds that the others will take at the pace so far; None while it cannot be told."""
        if self.made < _ENOUGH or self.done >= self.total:
            return None
        return (self.clock() - self._start) / self.made * (self.total - self.done)

    def line(self) -> str:
        """`12 of 40 trials, 75% passed, $0.1200 so far, about 3 min left`"""
        parts = [f"{self.done} of {self.total} {plural(self.total, 'trial')}"]
        if self.counts.scored:
            parts.append(f"{percent(self.counts)} passed")
        if self.cost_usd:
            parts.append(f"{dollars(self.cost_usd)} so far")
        if self.left_s is not None:
            parts.append(f"about {rough_duration(self.left_s)} left")
        return ", ".join(parts)
