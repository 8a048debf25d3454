"""Do the graders tell right from wrong? Answers and `accept/` must pass; `wrong/` and foils must not."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from convex_evals.errors import UserError
from convex_evals.grading.service import GradingService, check_graders
from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.render.results import headline, table
from convex_evals.suite.suite import Eval, Project, Suite


@dataclass(frozen=True)
class Case:
    """One project of a suite and what must come of it."""

    ev: Eval
    project: Project

    @property
    def kind(self) -> str:
        """`answer`, `wrong`, `accept` or `foil`."""
        return self.project.label.partition("/")[0]

    @property
    def must_pass(self) -> bool:
        return self.kind in ("answer", "accept")

    @property
    def name(self) -> str:
        return f"{self.ev.id} {self.project.label}"


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


@dataclass(frozen=True)
class Validation:
    """All that came out."""

    results: tuple[CaseResult, ...]
    broken: tuple[BrokenEval, ...] = ()
    grader_limit: float | None = None  # seconds

    @property
    def complaints(self) -> list[str]:
        """What is off, a line each: nothing, where the graders can be trusted."""
        lines = []
        for case, results in self._by_case().items():
            off = next((r for r in results if not r.as_expected), None)
            verdicts = [(r.verdict.outcome, r.verdict.caught_by) for r in results]
            if len(set(verdicts)) > 1:
                seen = "; ".join(f"{verdicts.count(v)} x {_spoken(*v)}" for v in dict.fromkeys(verdicts))
                lines.append(f"{case}: flaky: {seen}" + (f"; {off.complaint}" if off else ""))
            elif off:
                lines.append(f"{case}: {off.complaint}")
        lines += [f"{b.ev.id}: cannot be graded: {b.complaint}" for b in self.broken]
        for row in self.rows():
            if self.grader_limit is not None and row.slowest > self.grader_limit:
                lines.append(f"{row.slowest_case}: its tests took {row.slowest:.1f} s, over {self.grader_limit:g} s")
        return lines

    @property
    def is_clean(self) -> bool:
        return not self.complaints

    def _by_case(self) -> dict[str, list[CaseResult]]:
        found: dict[str, list[CaseResult]] = {}
        for result in self.results:
            found.setdefault(result.case.name, []).append(result)
        return found

    def rows(self) -> list[EvalRow]:
        """A row for each eval, in their order."""
        found: dict[str, list[CaseResult]] = {}
        for result in self.results:
            found.setdefault(result.case.ev.id, []).append(result)
        return [EvalRow(name, tuple(results)) for name, results in found.items()]

    def table(self) -> str:
        """For people: an eval a line, the whole at the end."""
        rows = [row.cells() for row in self.rows()]
        rows.append(EvalRow("all", self.results).cells())
        return table(["eval", "answer", "killed/wrong", "passed/accept", "foils", "seconds", "slowest grader"], rows)

    def to_json(self) -> dict[str, object]:
        return {
            "clean": self.is_clean,
            "complaints": self.complaints,
            "evals": [row.to_json() for row in self.rows()],
            "projects": [*(r.to_json() for r in self.results), *(b.to_json() for b in self.broken)],
        }


@dataclass(frozen=True)
class EvalRow:
    """What came of one eval's projects. A project counts as good where it was so every time."""

    name: str
    results: tuple[CaseResult, ...]

    def good(self, kind: str) -> int:
        return len(self._names(kind) - {r.case.name for r in self._of(kind) if not r.as_expected})

    def total(self, kind: str) -> int:
        return len(self._names(kind))

    def _names(self, kind: str) -> set[str]:
        return {r.case.name for r in self._of(kind)}

    def _of(self, kind: str) -> Iterable[CaseResult]:
        return (r for r in self.results if r.case.kind == kind)

    @property
    def seconds(self) -> float:
        """Of all gradings together."""
        return sum(r.verdict.duration_ms for r in self.results) / 1000

    @property
    def _slowest(self) -> CaseResult:
        return max(self.results, key=lambda r: r.grader_seconds)

    @property
    def slowest(self) -> float:
        """The longest that the grader took, in seconds."""
        return self._slowest.grader_seconds

    @property
    def slowest_case(self) -> str:
        return self._slowest.case.name

    def cells(self) -> list[str]:
        counts = [f"{self.good(kind)}/{self.total(kind)}" for kind in ("wrong", "accept", "foil")]
        answer = f"{self.good('answer')}/{self.total('answer')}"
        if self.total("answer") == 1:
            answer = "passed" if self.good("answer") else "OFF"
        return [self.name, answer, *counts, f"{self.seconds:.1f}", f"{self.slowest:.1f}"]

    def to_json(self) -> dict[str, object]:
        counts = {kind: {"good": self.good(kind), "total": self.total(kind)} for kind in _KINDS}
        return {
            "eval": self.name,
            **counts,
            "duration_ms": round(self.seconds * 1000),
            "slowest_grader_ms": round(self.slowest * 1000),
            "slowest_grader_project": self.slowest_case,
        }


_KINDS = ("answer", "wrong", "accept", "foil")


def _spoken(outcome: Outcome, step: StepName | None) -> str:
    return f"{outcome} at {step}" if step else outcome.value


def incomplete(evals: Sequence[Eval]) -> list[BrokenEval]:
    """Those of `evals` that lack something."""
    return [BrokenEval(ev, problems[0]) for ev in evals if (problems := ev.problems())]


async def unreadable(service: GradingService, evals: Sequence[Eval]) -> list[BrokenEval]:
    """Those of `evals` whose grader cannot be parsed."""
    checks = await check_graders(service, evals) if evals else {}
    return [BrokenEval(ev, f"{checks[ev.id].errors[0]}; fix it") for ev in evals if checks[ev.id].errors]


def cases_of(evals: Sequence[Eval], *, wrong: bool = True, accept: bool = True) -> list[Case]:
    """All projects of `evals`, eval by eval."""
    return [
        Case(ev, project)
        for ev in evals
        for project in [ev.answer(), *(ev.accept() if accept else []), *(ev.wrong() if wrong else [])]
    ]


def matching(cases: Sequence[Case], pattern: str) -> list[Case]:
    """Those whose project's label matches `pattern` (a regular expression, searched). Raises `UserError`."""
    try:
        found = [c for c in cases if re.search(pattern, c.project.label)]
    except re.error as error:
        raise UserError(f"-p {pattern!r}: not a regular expression: {error}") from None
    if not found:
        raise UserError(f"-p {pattern!r}: none of these {len(cases)} projects matches, like 'answer' or 'wrong/NAME'")
    return found


def foils_of(evals: Sequence[Eval], suite: Suite) -> list[Case]:
    """What no grader may let pass, for each of `evals`: nothing, nearly nothing, and the answer to something else."""
    return [Case(ev, project) for ev in evals for project in _foils(ev, suite)]


def _foils(ev: Eval, suite: Suite) -> list[Project]:
    manifest = {path: text for path, text in ev.answer().files.items() if path == "package.json"}
    foils = [Project("foil/empty", {}, "it is an empty project")]
    if manifest:
        foils.append(Project("foil/package-json", manifest, "it has a package.json and nothing else"))
    # The nearest one after it: a neighbour's answer is likelier to be taken for this one's than that of a stranger.
    index = suite.evals.index(ev)
    for other in [*suite.evals[index + 1 :], *suite.evals[:index]]:
        files = {} if other.problems() else other.answer().files
        if files and _sources(files) != _sources(ev.answer().files):
            foils.append(Project("foil/other-answer", files, f"it is the answer of {other.id}"))
            break
    return foils


def _sources(files: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items() if path != "package.json"}


async def validate_cases(
    service: GradingService, cases: Sequence[Case], repeats: int, emit: Callable[[CaseResult], None]
) -> None:
    """Grade all of `cases`, `repeats` times one after the other; `emit` hears of each result when it is known."""

    async def one(case: Case, repeat: int) -> None:
        emit(CaseResult(case, await service.grade(case.ev, case.project.files), repeat))

    for repeat in range(1, repeats + 1):
        async with asyncio.TaskGroup() as group:
            for case in cases:
                group.create_task(one(case, repeat))
