"""`grade.<key8>.json`: the verdicts of all trials of one eval under one grading key."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from convex_evals.records.base import WELL_FORMED, FileRecord, Quoted, Record
from convex_evals.records.names import EvalId, Identity, Line, Natural, Positive, Sha256, TrialNumber
from convex_evals.records.outcome import Outcome, StepName, StepOutcome


class StepResult(Record):
    """What one step of grading said."""

    step: StepName = Field(description="filesystem, install, deploy, tsc, eslint or tests")
    outcome: StepOutcome = Field(description="passed, failed, skipped or unscored")
    duration_ms: Natural = Field(default=0, description="wall clock")
    reason: Quoted = Field(default=None, description="why it did not pass, or what it repaired")


class TestResult(Record):
    """One test of the grader."""

    __test__ = False

    name: Annotated[str, WELL_FORMED] = Field(description="titles of its suites and its own, joined by ' > '")
    outcome: Literal["passed", "failed", "skipped"] = Field(description="skipped ones do not count")
    duration_ms: Natural = Field(default=0, description="wall clock")
    message: Quoted = Field(default=None, description="the assertion that failed")


class Verdict(Record):
    """The judgement on one project."""

    outcome: Outcome = Field(description="passed, failed or unscored")
    caught_by: StepName | None = Field(description="the first step that did not pass; null for a pass")
    score: float = Field(ge=0, le=1, description="passed tests / tests that ran; 0 where none did")
    steps: tuple[StepResult, ...] = Field(description="all six, in order")
    tests: tuple[TestResult, ...] = Field(default=(), description="the grader's tests, in order")
    gradings: Positive = Field(
        default=1, alias="attempts", description="gradings made; more than one after a fault of ours"
    )

    @property
    def reason(self) -> str | None:
        """Why it is not a pass, in one paragraph."""
        return next((s.reason for s in self.steps if s.step == self.caught_by), None)

    @property
    def duration_ms(self) -> int:
        return sum(s.duration_ms for s in self.steps)


class TrialGrade(Record):
    trial: TrialNumber = Field(description="number of the trial, from 1")
    generation_id: Identity = Field(description="which reply was graded")
    verdict: Verdict = Field(description="the judgement")
    commands: Positive = Field(
        default=1,
        alias="rounds",
        description="commands that asked or graded; after three without a verdict it is left alone",
    )


class GradeFile(FileRecord):
    kind: Literal["grade"] = "grade"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    eval: EvalId = Field(description="eval id, `category/name`")
    grading_key: Sha256 = Field(description="as in run.json; its first eight characters name the file")
    sandbox: Line = Field(description="level of containment the project ran under")
    trials: tuple[TrialGrade, ...] = Field(description="in order of their number")
