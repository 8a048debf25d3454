"""What a workflow run did, for tests to assert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.workflows.permissions import Rights

SUCCESS, FAILURE, CANCELLED, SKIPPED = "success", "failure", "cancelled", "skipped"


@dataclass(frozen=True)
class StepRecord:
    job: str
    name: str
    id: str | None
    outcome: str  # before `continue-on-error`
    conclusion: str  # after it
    env: Mapping[str, str] = field(default_factory=dict)
    secrets: frozenset[str] = frozenset()  # names of those that it could read: in variables, inputs or the checkout
    code: int | None = None  # of a script that ended by itself
    output: str = ""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""


@dataclass
class JobRecord:
    path: str  # its id; `CALLER/ID` in a workflow that was called
    name: str
    matrix: Mapping[str, Any]
    rights: Rights
    folder: Path
    workspace: Path
    result: str = SUCCESS
    outputs: dict[str, str] = field(default_factory=dict)
    steps: list[StepRecord] = field(default_factory=list)

    def step(self, title: str) -> StepRecord:
        """By id, else by the beginning of its name."""
        found = [s for s in self.steps if s.id == title] or [s for s in self.steps if s.name.startswith(title)]
        assert len(found) == 1, f"{title!r}: of the steps {[s.name for s in self.steps]}"
        return found[0]

    @property
    def output(self) -> str:
        return "".join(f"== {s.name}: {s.outcome}\n{s.output}" for s in self.steps)

    @property
    def summary(self) -> str:
        return "".join(s.summary for s in self.steps)

    @property
    def secrets(self) -> frozenset[str]:
        return frozenset().union(*(s.secrets for s in self.steps))


def combine(results: list[str]) -> str:
    """The result of several jobs together."""
    for result in (FAILURE, CANCELLED, SUCCESS):
        if result in results:
            return result
    return SKIPPED
