"""Do the graders tell right from wrong? Answers and `accept/` must pass; `wrong/` and foils must not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from convex_evals.errors import ProcessFault
from convex_evals.grading.case_results import BrokenEval, CaseResult
from convex_evals.grading.cases import Case
from convex_evals.grading.service import GraderCheck, GradingService
from convex_evals.grading.validation_rows import EvalRow
from convex_evals.grading.verdict import summarize
from convex_evals.records import Outcome, StepName
from convex_evals.suite.suite import Eval

_TYPES_SECONDS = 300


@dataclass(frozen=True)
class Validation:
    """All that came out."""

    results: tuple[CaseResult, ...]
    broken: tuple[BrokenEval, ...] = ()
    grader_limit: float | None = None  # seconds
    untried: tuple[str, ...] = ()  # evals that have no wrong project
    type_errors: tuple[str, ...] = ()  # of graders

    @property
    def complaints(self) -> list[str]:
        """What is off, a line each: nothing, where the graders can be trusted."""
        lines = []
        for case, results in self._by(lambda r: r.case.name).items():
            off = next((r for r in results if not r.as_expected), None)
            verdicts = [(r.verdict.outcome, r.verdict.caught_by) for r in results]
            if len(set(verdicts)) > 1:
                seen = "; ".join(f"{verdicts.count(v)} x {_spoken(*v)}" for v in dict.fromkeys(verdicts))
                lines.append(f"{case}: flaky: {seen}" + (f"; {off.complaint}" if off else ""))
            elif off:
                lines.append(f"{case}: {off.complaint}")
        lines += [f"{b.ev.id}: cannot be graded: {b.complaint}" for b in self.broken]
        lines += self.type_errors
        lines += [
            f"{name}: no project under wrong/, so nothing shows that its grader catches mistakes; add the likeliest"
            for name in self.untried
        ]
        for row in self.rows():
            if self.grader_limit is not None and row.slowest > self.grader_limit:
                lines.append(f"{row.slowest_case}: its tests took {row.slowest:.1f} s, over {self.grader_limit:g} s")
        return lines

    @property
    def is_clean(self) -> bool:
        return not self.complaints

    def rows(self) -> list[EvalRow]:
        """A row for each eval, in their order."""
        return [EvalRow(name, tuple(results)) for name, results in self._by(lambda r: r.case.ev.id).items()]

    def _by(self, key: Callable[[CaseResult], str]) -> dict[str, list[CaseResult]]:
        found: dict[str, list[CaseResult]] = {}
        for result in self.results:
            found.setdefault(key(result), []).append(result)
        return found

    def to_json(self) -> dict[str, object]:
        return {
            "clean": self.is_clean,
            "complaints": self.complaints,
            "type_errors": list(self.type_errors),
            "evals": [row.to_json() for row in self.rows()],
            "projects": [*(r.to_json() for r in self.results), *(b.to_json() for b in self.broken)],
        }


def _spoken(outcome: Outcome, step: StepName | None) -> str:
    return f"{outcome} at {step}" if step else outcome.value


def incomplete(evals: Sequence[Eval]) -> list[BrokenEval]:
    """What `evals` lack: one for each thing, so that all of it can be done before the next try."""
    return [BrokenEval(ev, problem) for ev in evals for problem in ev.problems()]


def unreadable(evals: Sequence[Eval], checks: Mapping[str, GraderCheck]) -> list[BrokenEval]:
    """Those of `evals` whose graders cannot be parsed."""
    return [BrokenEval(ev, f"{checks[ev.id].errors[0]}; fix it") for ev in evals if checks[ev.id].errors]


async def type_errors(service: GradingService, evals: Sequence[Eval]) -> list[str]:
    """What is wrong with the types of the graders of `evals`, a line each, beginning with `file:line:column`.

    All graders are checked at once, since most of the time goes into the libraries that they share, and by a checker
    that no grading waits for.
    """
    async with service.fresh() as tools:
        try:
            found = await tools.checker.request(
                "grader_types",
                suite=evals[0].root,
                files=[e.grader for e in evals],
                packages=[str(p) for p in tools.prepared.suite_packages],
                timeout=_TYPES_SECONDS,
            )
        except ProcessFault as error:
            return [f"the graders' types could not be checked: {error}"]
    return [summarize([{**error, "message": " ".join(error["message"].split())}]) for error in found]


async def validate_cases(
    service: GradingService, cases: Sequence[Case], repeats: int, emit: Callable[[CaseResult], None]
) -> None:
    """Grade all of `cases`, `repeats` times one after the other; `emit` gets each result when it is known."""

    async def one(case: Case, repeat: int) -> None:
        emit(CaseResult(case, await service.grade(case.ev, case.project.files), repeat))

    for repeat in range(1, repeats + 1):
        async with asyncio.TaskGroup() as group:
            for case in cases:
                group.create_task(one(case, repeat))
