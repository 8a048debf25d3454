"""`grade.<key8>.json`: the verdicts of all trials of one eval under one grading key."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import is_
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from convex_evals.records.base import WELL_FORMED, FileRecord, Quoted, Record, dump_json
from convex_evals.records.judge import Opinion
from convex_evals.records.names import EvalId, Identity, Line, Natural, Positive, Sha256, TrialNumber
from convex_evals.records.outcome import Outcome, StepName, StepOutcome


class StepResult(Record):
    """What one step of grading said."""

    step: StepName = Field(description="filesystem, install, deploy, tsc, eslint or tests")
    outcome: StepOutcome = Field(description="passed, failed, skipped or unscored")
    duration_ms: Natural = Field(default=0, description="wall clock")
    reason: Quoted = Field(
        default=None,
        description=(
            "why it did not pass, or what it repaired; left out in a file where the messages of the tests, or the "
            "skipped step before it, say the same"
        ),
    )


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
    opinion: Opinion | None = Field(
        default=None, description="what a model says of the reply, as a judge; null where none was asked"
    )
    gradings: Positive = Field(
        default=1, alias="attempts", description="gradings made; more than one after a fault of ours"
    )

    @model_validator(mode="after")
    def _is_a_pass_where_it_says_so(self) -> Verdict:
        if self.outcome is not Outcome.PASSED:
            return self
        bad = (StepOutcome.FAILED, StepOutcome.UNSCORED)
        step = self.caught_by or next((s.step for s in self.steps if s.outcome in bad), None)
        test = next((t for t in self.tests if t.outcome == "failed"), None)
        if step:
            raise ValueError(f"passed, but {step} did not")
        if test:
            raise ValueError(f"passed, but the test '{test.name[:100]}' did not")
        return self

    @property
    def reason(self) -> str | None:
        """Why it is not a pass, in one paragraph."""
        return next((s.reason for s in self.steps if s.step == self.caught_by), None)

    @property
    def judge_cost_usd(self) -> float:
        """Dollars that were paid for a judge's opinion."""
        return self.opinion.cost_usd if self.opinion else 0.0

    def without_cost(self) -> Verdict:
        """The same where another run has paid for the opinion."""
        if self.opinion is None:
            return self
        return self.model_copy(update={"opinion": self.opinion.model_copy(update={"cost_usd": 0.0})})

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
    sandbox: Line | None = Field(description="level of containment the project ran under; null where nothing ran")
    trials: tuple[TrialGrade, ...] = Field(description="in order of their number")

    def to_json(self) -> str:
        """Each message once, however often it is a reason."""
        return dump_json(self._with_reasons(_left_out).model_dump(mode="json", by_alias=True))

    def completed(self) -> Self:
        return self._with_reasons(_filled_in)

    def _with_reasons(self, reason: Callable[[StepResult, str | None], str | None]) -> Self:
        """With what `reason` makes of each step and what is said of it elsewhere."""
        trials = tuple(_with_verdict(grade, _with_reasons(grade.verdict, reason)) for grade in self.trials)
        return self if all(map(is_, trials, self.trials)) else self.model_copy(update={"trials": trials})


def _with_verdict(grade: TrialGrade, verdict: Verdict) -> TrialGrade:
    return grade if verdict is grade.verdict else grade.model_copy(update={"verdict": verdict})


# The outcomes of steps whose reason may be that of tests, or of the step before.
_SAID_ELSEWHERE = frozenset((StepOutcome.FAILED, StepOutcome.SKIPPED))


def reason_of_tests(tests: Iterable[TestResult]) -> str | None:
    """What failing tests say together; None where none failed."""
    return "\n".join(f"{t.name}: {t.message or t.outcome}" for t in tests if t.outcome == "failed") or None


def _with_reasons(verdict: Verdict, reason: Callable[[StepResult, str | None], str | None]) -> Verdict:
    if _SAID_ELSEWHERE.isdisjoint([step.outcome for step in verdict.steps]):
        return verdict
    steps: list[StepResult] = []
    before: str | None = None  # the reason of the step before, where it was skipped
    for step in verdict.steps:
        elsewhere = None
        if step.outcome is StepOutcome.SKIPPED:
            elsewhere = before
        elif step.outcome is StepOutcome.FAILED and step.step is StepName.TESTS:
            elsewhere = reason_of_tests(verdict.tests)
        own = reason(step, elsewhere)
        steps.append(step if own == step.reason else step.model_copy(update={"reason": own}))
        known = step.reason if step.reason is not None else own
        before = known if step.outcome is StepOutcome.SKIPPED else None
    same = all(map(is_, steps, verdict.steps))
    return verdict if same else verdict.model_copy(update={"steps": tuple(steps)})


def _left_out(step: StepResult, elsewhere: str | None) -> str | None:
    return None if step.reason == elsewhere else step.reason


def _filled_in(step: StepResult, elsewhere: str | None) -> str | None:
    return elsewhere if step.reason is None else step.reason
