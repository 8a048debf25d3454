"""Do the graders tell right from wrong? Answers and `accept/` must pass, `wrong/` must not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from convex_evals.grade.grader import Grader, check_graders
from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.results import headline
from convex_evals.suite import Eval, Project


@dataclass(frozen=True)
class Case:
    """One project of a suite and what must come of it."""

    ev: Eval
    project: Project

    @property
    def must_pass(self) -> bool:
        return not self.project.label.startswith("wrong/")

    @property
    def name(self) -> str:
        return f"{self.ev.id} {self.project.label}"


@dataclass(frozen=True)
class CaseResult:
    case: Case
    verdict: Verdict

    @property
    def is_caught(self) -> bool:
        """A wrong project that failed at the step its reason.txt names. Caught elsewhere, it survived its grader."""
        return self.verdict.outcome is Outcome.FAILED and self.verdict.caught_by == self.case.project.caught_by

    @property
    def as_expected(self) -> bool:
        return self.verdict.outcome is Outcome.PASSED if self.case.must_pass else self.is_caught

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
        if verdict.outcome is Outcome.PASSED:
            return f"must not pass, and did; expected to be caught by {expected}"
        return f"caught by {verdict.caught_by}, not by {expected} as its reason.txt says: {headline(verdict.reason)}"

    def to_json(self) -> dict[str, object]:
        verdict = self.verdict
        return {
            "eval": self.case.ev.id,
            "project": self.case.project.label,
            "outcome": verdict.outcome.value,
            "expected": "passed" if self.case.must_pass else "failed",
            "caught_by": verdict.caught_by.value if verdict.caught_by else None,
            "expected_step": _value(self.case.project.caught_by),
            "as_expected": self.as_expected,
            "reason": verdict.reason,
            "duration_ms": verdict.duration_ms,
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
            "outcome": Outcome.UNSCORED.value,
            "expected": "passed",
            "caught_by": None,
            "expected_step": None,
            "as_expected": False,
            "reason": self.complaint,
            "duration_ms": 0,
        }


def incomplete(evals: Sequence[Eval]) -> list[BrokenEval]:
    """Those of `evals` that lack something."""
    return [BrokenEval(ev, problems[0]) for ev in evals if (problems := ev.problems())]


async def unreadable(grader: Grader, evals: Sequence[Eval]) -> list[BrokenEval]:
    """Those of `evals` whose grader cannot be parsed."""
    checks = await check_graders(grader, evals) if evals else {}
    return [BrokenEval(ev, f"{checks[ev.id].errors[0]}; mend it") for ev in evals if checks[ev.id].errors]


def cases_of(evals: Sequence[Eval], *, wrong: bool, accept: bool = True) -> list[Case]:
    """All projects of `evals`, eval by eval."""
    return [
        Case(ev, project)
        for ev in evals
        for project in [ev.answer(), *(ev.accept() if accept else []), *(ev.wrong() if wrong else [])]
    ]


async def validate_cases(grader: Grader, cases: Sequence[Case], emit: Callable[[CaseResult], None]) -> list[CaseResult]:
    """Grade all of `cases`, results in their order; `emit` hears of each when it is known."""

    async def one(case: Case) -> CaseResult:
        result = CaseResult(case, await grader.grade(case.ev, case.project.files))
        emit(result)
        return result

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(case)) for case in cases]
    return [task.result() for task in tasks]
