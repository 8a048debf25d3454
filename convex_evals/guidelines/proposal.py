"""What `cli diff-guidelines` proposes: to validate the change on the evals that the changed rules name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from convex_evals.guidelines.confirmed import Confirmed
from convex_evals.guidelines.diff import GuidelineDiff
from convex_evals.guidelines.revisions import Revisions
from convex_evals.runs.options import RunOptions
from convex_evals.stats import CONFIRM_TRIALS, SCREEN_TRIALS
from convex_evals.text import counted


@dataclass(frozen=True)
class Proposal:
    evals: tuple[str, ...]
    models: tuple[str, ...]  # none: the user has to name some
    command: str

    @property
    def screening_calls(self) -> int:
        return 2 * SCREEN_TRIALS * len(self.evals) * max(1, len(self.models))

    @property
    def calls_for_each_flip(self) -> int:
        return 2 * CONFIRM_TRIALS

    @property
    def title(self) -> str:
        them = "it" if len(self.evals) == 1 else "them"
        return f"The changed rules name {counted(len(self.evals), 'eval')}; to validate the change on {them} alone:"

    @property
    def price(self) -> str:
        one = "" if self.models else " for one model"
        return f"{self.screening_calls} calls{one}, and {self.calls_for_each_flip} for each eval that flips"

    def to_data(self) -> dict[str, Any]:
        return {
            "evals": list(self.evals),
            "models": list(self.models),
            "command": self.command,
            "screening_calls": self.screening_calls,
            "calls_for_each_flip": self.calls_for_each_flip,
        }


def propose(
    diff: GuidelineDiff,
    revisions: Revisions,
    options: RunOptions,
    suite_evals: Collection[str],
    models: Sequence[str],
    confirmed: Sequence[Confirmed],
) -> Proposal | None:
    """None where no changed rule names an eval, or all of `models` were validated on those that it names.

    `options` have the experiment and the folders.
    """
    if diff.same_for_models:
        return None
    named = {e for change in diff.changes for e in change.evals}
    evals = tuple(e for e in suite_evals if e in named)
    left = tuple(m for m in models if not any(c.model == m and c.evals.issuperset(evals) for c in confirmed))
    if not evals or (models and not left):
        return None
    chosen = replace(options, models=left or ("MODEL",)).choosing(evals, suite_evals)
    return Proposal(evals, left, chosen.command("validate-guidelines", *revisions.words))
