"""What came of one project that a grader was tried on, and whether that is what must come of it."""

from __future__ import annotations

from dataclasses import dataclass

from convex_evals.grading.cases import Case
from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.render.verdicts import headline
from convex_evals.suite.suite import Eval


@dataclass(frozen=True)
class CaseResult:
    """One grading of a case. `repeat` counts from 1."""

    case: Case
    verdict: Verdict
    repeat: int = 1

    @property
    def is_caught(self) -> bool:
        """Failed; a wrong project at the step that its reason.txt names. Caught elsewhere, it survived its grader."""
        if self.verdict.outcome is not Outcome.FAILED:
            return False
        return self.case.kind == "foil" or self.verdict.caught_by == self.case.project.caught_by

    @property
    def as_expected(self) -> bool:
        return self.verdict.outcome is Outcome.PASSED if self.case.must_pass else self.is_caught

    @property
    def grader_seconds(self) -> float:
        """How long the grader's tests took; 0 where they did not run."""
        return sum(s.duration_ms for s in self.verdict.steps if s.step is StepName.TESTS) / 1000

    @property
    def complaint(self) -> str | None:
        """What is off, in one line."""
        verdict, expected = self.verdict, self.case.project.caught_by
        if self.as_expected:
            return None
        if verdict.outcome is Outcome.UNSCORED:
            return f"unscored at {verdict.caught_by}: {headline(verdict.reason)}"
        if self.case.must_pass:
            return f"must pass, failed at {verdict.caught_by}: {headline(verdict.reason)}"
        if self.case.kind == "foil":
            return f"must not pass, and did: {self.case.project.reason}"
        if verdict.outcome is Outcome.PASSED:
            return f"must not pass, and did; expected to be caught by {expected}"
        return f"caught by {verdict.caught_by}, not by {expected} as its reason.txt says: {headline(verdict.reason)}"

    def to_json(self) -> dict[str, object]:
        verdict = self.verdict
        return {
            "eval": self.case.ev.id,
            "project": self.case.project.label,
            "repeat": self.repeat,
            "outcome": verdict.outcome.value,
            "expected": "passed" if self.case.must_pass else "failed",
            "caught_by": _value(verdict.caught_by),
            "expected_step": _value(self.case.project.caught_by),
            "as_expected": self.as_expected,
            "reason": verdict.reason,
            "duration_ms": verdict.duration_ms,
            "grader_ms": round(self.grader_seconds * 1000),
        }


def _value(step: StepName | None) -> str | None:
    return step.value if step else None


@dataclass(frozen=True)
class BrokenEval:
    """An eval that cannot be graded at all."""

    ev: Eval
    complaint: str  # one line: where, what, and what to do

    def to_json(self) -> dict[str, object]:
        return {
            "eval": self.ev.id,
            "project": "answer",
            "repeat": 1,
            "outcome": Outcome.UNSCORED.value,
            "expected": "passed",
            "caught_by": None,
            "expected_step": None,
            "as_expected": False,
            "reason": self.complaint,
            "duration_ms": 0,
            "grader_ms": 0,
        }
