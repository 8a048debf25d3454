"""Runs that a comparison of guidelines lacks: the commands that make them, and what they would cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.guidelines.effect import Lack
from convex_evals.guidelines.price import CostEstimate
from convex_evals.guidelines.revisions import Version
from convex_evals.runs.plan import RunRequest
from convex_evals.runs.request import Order, Resolved, estimate
from convex_evals.runs.status import RunWords
from convex_evals.suite.suite import pattern_of

TRIALS = 3  # where no run says how many: enough to see how much an eval varies by itself


@dataclass(frozen=True)
class Gap:
    """What is to be run so that models can be compared."""

    version: Version
    models: tuple[str, ...]
    command: str
    requests: tuple[RunRequest, ...]  # of the models that can be asked here
    problems: tuple[str, ...]  # why others cannot
    unpaired: bool = False  # there are runs, which make no pair with those of the other side

    @property
    def what(self) -> str:
        """What is missing, in words that a version follows."""
        return "No run that makes a pair with" if self.unpaired else "No runs with"

    @cached_property
    def estimates(self) -> Sequence[Mapping[str, Any]]:
        return [estimate(request) for request in self.requests]

    @property
    def calls(self) -> int | None:
        return sum(e["calls"] for e in self.estimates) if self.estimates else None

    def cost(self, name: str) -> float | None:
        """Dollars, `usual_usd` or `most_usd`; None where a price is not known."""
        amounts = [e[name] for e in self.estimates]
        return round(sum(amounts), 4) if amounts and None not in amounts else None

    @property
    def price(self) -> str:
        """Calls and dollars, in words."""
        if self.calls is None:
            return "; ".join(self.problems)
        price = CostEstimate(self.calls, self.cost("usual_usd"), self.cost("most_usd"))
        return "; ".join([f"{price.words}, before reuse of earlier replies", *self.problems])

    def to_data(self) -> dict[str, Any]:
        return {
            "side": self.version.name,
            "unpaired": self.unpaired,
            "models": list(self.models),
            "command": self.command,
            "calls": self.calls,
            "usual_usd": self.cost("usual_usd"),
            "most_usd": self.cost("most_usd"),
            "problems": list(self.problems),
        }


def find_gaps(
    lacks: Sequence[Lack],
    experiment: str,
    workspace: Workspace,
    suite_evals: Sequence[str],
    resolver: Callable[[Order], Resolved],
    suite_words: Sequence[str] = (),
    rest_words: Sequence[str] = (),
) -> list[Gap]:
    """What to run, models that lack the same together; `resolver` says what is asked of one of them."""
    usual = workspace.config.experiment(experiment).guidelines
    grouped: dict[tuple[str | None, int, tuple[str, ...], bool], list[Lack]] = {}
    for lack in lacks:
        guidelines = None if lack.version.source == usual else lack.version.source
        trials = lack.other.plan.trials if lack.other else TRIALS
        there = [e for e in lack.other.plan.evals if e in suite_evals] if lack.other else []
        grouped.setdefault((guidelines, trials, tuple(there or suite_evals), lack.unpaired), []).append(lack)
    found = []
    for (guidelines, trials, evals, unpaired), group in grouped.items():
        models = tuple(lack.model for lack in group)
        words = RunWords(models, experiment, guidelines, trials, evals)
        command = words.command(suite_evals, suite_words, rest_words)
        pattern = None if set(evals) == set(suite_evals) else pattern_of(evals)
        requests: list[RunRequest] = []
        problems: list[str] = []
        for model in models:
            try:
                resolved = resolver(Order((model,), (experiment,), pattern, (), trials, guidelines))
            except UserError as error:
                problems.append(str(error))
            else:
                requests += resolved.requests
                problems += resolved.skipped
        told = tuple(dict.fromkeys(problems))
        found.append(Gap(group[0].version, models, command, tuple(requests), told, unpaired))
    return found
