"""Runs that a comparison of guidelines lacks: the commands that make them, and what they would cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.guidelines.effect import Lack
from convex_evals.guidelines.revisions import Version
from convex_evals.runs.options import RunOptions

TRIALS = 3  # where no run says how many: enough to see how much an eval varies by itself

if TYPE_CHECKING:
    from convex_evals.runs.costs import Estimate
    from convex_evals.runs.plan import RunRequest
    from convex_evals.runs.request import Resolved


@dataclass(frozen=True)
class Gap:
    """What is to be run so that models can be compared."""

    version: Version
    models: tuple[str, ...]
    command: str
    requests: tuple[RunRequest, ...]  # of the models that can be asked here
    problems: tuple[str, ...]  # why others cannot
    left: tuple[Mapping[str, int], ...]  # trials of each request that no earlier run has, by eval
    unpaired: bool = False  # there are runs, which make no pair with those of the other side

    @property
    def what(self) -> tuple[str, str]:
        """What is missing in words, and the name of the version that they end in, if any."""
        if self.version.bare:
            return "No run without guidelines that makes a pair" if self.unpaired else "No runs without guidelines", ""
        return "No run that makes a pair with" if self.unpaired else "No runs with", self.version.label

    @cached_property
    def estimate(self) -> Estimate | None:
        """None where no model can be asked here."""
        from convex_evals.runs.costs import estimate, total

        return total(map(estimate, self.requests, self.left)) if self.requests else None

    @property
    def price(self) -> str:
        """Calls and dollars, in words."""
        if self.estimate is None:
            return "; ".join(self.problems)
        return "; ".join([self.estimate.words, *self.problems])

    def to_data(self) -> dict[str, Any]:
        found = self.estimate
        return {
            "side": self.version.name,
            "unpaired": self.unpaired,
            "models": list(self.models),
            "command": self.command,
            "calls": found.calls if found else None,
            "usual_usd": found.usual_usd if found else None,
            "most_usd": found.most_usd if found else None,
            "problems": list(self.problems),
        }


def find_gaps(
    lacks: Sequence[Lack],
    experiment: str,
    workspace: Workspace,
    suite_evals: Sequence[str],
    named: Collection[str],
    resolver: Callable[[RunOptions], Resolved],
    left: Callable[[RunRequest], Mapping[str, int]],
    where: RunOptions,
) -> list[Gap]:
    """What to run, models that lack the same together.

    `resolver` says what is asked of one of them, and `left` how much of that no earlier run has, by eval. The evals are
    those that are `named` by the changed rules, or all: what an earlier run happened to choose says nothing of the
    change. `where` has the options about folders, which every command that is proposed shares.
    """
    grouped: dict[tuple[RunOptions, bool], list[Lack]] = {}
    for lack in lacks:
        options = lack.version.asked(where, experiment, workspace)
        options = replace(options, trials=lack.other.plan.trials if lack.other else TRIALS)
        chosen = [e for e in suite_evals if e in named] or suite_evals
        grouped.setdefault((options.choosing(chosen, suite_evals), lack.unpaired), []).append(lack)
    return [_gap(options, unpaired, group, resolver, left) for (options, unpaired), group in grouped.items()]


def _gap(
    options: RunOptions,
    unpaired: bool,
    lacks: Sequence[Lack],
    resolver: Callable[[RunOptions], Resolved],
    left: Callable[[RunRequest], Mapping[str, int]],
) -> Gap:
    models = tuple(lack.model for lack in lacks)
    requests: list[RunRequest] = []
    problems: list[str] = []
    for model in models:
        try:
            resolved = resolver(replace(options, models=(model,)))
        except UserError as error:
            problems.append(str(error))
        else:
            requests += resolved.requests
            problems += resolved.skipped
    command = replace(options, models=models).command()
    unasked = tuple(left(request) for request in requests)
    return Gap(lacks[0].version, models, command, tuple(requests), tuple(dict.fromkeys(problems)), unasked, unpaired)
