"""`summary.json`: totals of a complete run. Derivable from the other files; what lists read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Record


class Counts(Record):
    """Trials by outcome. Unscored ones are in no denominator."""

    passed: int = Field(default=0, ge=0, description="trials")
    failed: int = Field(default=0, ge=0, description="trials")
    unscored: int = Field(default=0, ge=0, description="trials")

    @property
    def scored(self) -> int:
        return self.passed + self.failed

    @property
    def pass_rate(self) -> float | None:
        """In [0, 1]; None where nothing was scored."""
        return self.passed / self.scored if self.scored else None

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            passed=self.passed + other.passed,
            failed=self.failed + other.failed,
            unscored=self.unscored + other.unscored,
        )


class EvalSummary(Record):
    counts: Counts = Field(description="trials of this eval")
    grade: str = Field(description="name of the grade file that counts")
    score: float = Field(ge=0, le=1, description="mean over its scored trials of passed tests / tests that ran")


class Summary(FileRecord):
    kind: Literal["summary"] = "summary"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    run_id: str = Field(description="the run's folder name")
    model: str = Field(description="true slug")
    experiment: str = Field(description="name of the experiment")
    date: str = Field(description="UTC day of planning")
    counts: Counts = Field(description="all trials")
    categories: dict[str, Counts] = Field(description="trials by category")
    evals: dict[str, EvalSummary] = Field(description="by eval id")
    cost_usd: float = Field(ge=0, description="dollars, all attempts of all trials")
    generation_ms: int = Field(ge=0, description="sum of the replies' wall clock")
    grading_ms: int = Field(ge=0, description="sum of the steps' wall clock")
