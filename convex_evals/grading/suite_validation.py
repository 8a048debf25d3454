"""`cli validate`: the projects of a suite, graded once or several times; what is known at an interruption is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from convex_evals.config import Workspace
from convex_evals.grading.case_results import BrokenEval, CaseResult
from convex_evals.grading.cases import Case, cases_of, foils_of, matching
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.service import GraderCheck, GradingService, check_graders
from convex_evals.grading.setup import ready_service
from convex_evals.grading.validation import Validation, incomplete, type_errors, unreadable, validate_cases
from convex_evals.render.terminal import Display
from convex_evals.suite.suite import Eval, load_suite
from convex_evals.vcs.git import changed_on_branch


@dataclass(frozen=True)
class Choice:
    """Which projects are graded, and how often."""

    patterns: tuple[str, ...] = ()  # of evals' ids
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    wrong: bool = True
    foils: bool = True
    project: str | None = None  # a pattern of projects' labels
    repeat: int = 1
    since: str | None = None  # a revision; only evals that this branch touched since it left it


@dataclass
class SuiteValidation:
    """Grades what `choice` says, and shows each result on `display`."""

    workspace: Workspace
    choice: Choice
    workers: int
    containment: Containment
    display: Display
    interrupted: bool = False
    untried: tuple[str, ...] = ()  # evals without a wrong project, where these were asked for
    _changed: frozenset[str] | None = None  # files of the branch, relative to the suite; None: not asked for
    _evals: Sequence[Eval] = ()
    _results: list[CaseResult] = field(default_factory=list)
    _broken: list[BrokenEval] = field(default_factory=list)
    _type_errors: list[str] = field(default_factory=list)

    def validate(self, grader_limit: float | None) -> Validation:
        """What came of it; no grader may take longer than `grader_limit` seconds.

        Raises `UserError` where no eval can be chosen, and `KeyboardInterrupt` where nothing was graded yet.
        """
        cases = self.find_cases()
        try:
            if cases:
                asyncio.run(self._grade(cases))
        except KeyboardInterrupt:
            self.interrupted = True
        if not self._results and self.interrupted:
            raise KeyboardInterrupt
        order = {e.id: i for i, e in enumerate(self._evals)}
        results = sorted(self._results, key=lambda r: (r.repeat, order[r.case.ev.id]))
        return Validation(tuple(results), tuple(self._broken), grader_limit, self.untried, tuple(self._type_errors))

    def find_cases(self) -> list[Case]:
        """The projects of all evals that have what they need; their graders say later which ones are touched."""
        choice = self.choice
        suite = load_suite(self.workspace.suite)
        self._evals = suite.select(choice.patterns, choice.categories, choice.tags)
        if choice.since is not None:
            self._changed = changed_on_branch(self.workspace.suite, choice.since)
            if not self._changed:
                return []
        lacking = incomplete(self._evals)
        self._broken = [b for b in lacking if self._is_touched(b.ev)]
        broken = [b.ev for b in lacking]
        whole = [e for e in self._evals if e not in broken]
        if choice.wrong and choice.project is None:
            self.untried = tuple(e.id for e in whole if not e.wrong())
        cases = cases_of(whole, wrong=choice.wrong) + (foils_of(whole, suite) if choice.foils else [])
        return matching(cases, choice.project) if choice.project else cases

    async def _grade(self, cases: Sequence[Case]) -> None:
        space, display = self.workspace, self.display
        async with ready_service(
            space.suite, space.config, self.workers, display.preparing, display.warn, self.containment
        ) as service:
            checks = await check_graders(service, list(dict.fromkeys(c.ev for c in cases)))
            evals = [e for e in self._evals if e.id in checks and self._is_touched(e, checks[e.id])]
            self.untried = tuple(name for name in self.untried if name in {e.id for e in evals})
            unread = unreadable(evals, checks)
            self._broken += unread
            broken = [b.ev for b in unread]
            cases = [c for c in cases if c.ev in evals and c.ev not in broken]
            display.start("validating projects", len(cases) * self.choice.repeat)
            async with asyncio.TaskGroup() as group:
                if self.choice.project is None:  # who looks at a few projects does not wait for what all graders share
                    group.create_task(self._check_types(service, [e for e in evals if e not in broken]))
                await validate_cases(service, cases, self.choice.repeat, self._show)

    def _is_touched(self, ev: Eval, check: GraderCheck | None = None) -> bool:
        """Whether the branch changed a file in the eval's folder, or one that its grader imports."""
        if self._changed is None or any(path.startswith(f"evals/{ev.id}/") for path in self._changed):
            return True
        # What a grader imports is not known where it cannot be parsed, perhaps for what the branch changed.
        return check is not None and bool(check.errors or not self._changed.isdisjoint(check.inputs))

    async def _check_types(self, service: GradingService, evals: Sequence[Eval]) -> None:
        if evals:
            self._type_errors += await type_errors(service, evals)

    def _show(self, result: CaseResult) -> None:
        self._results.append(result)
        verdict = result.verdict
        note = result.complaint or (f"caught by {verdict.caught_by}" if verdict.caught_by else "")
        self.display.item("passed" if result.as_expected else "off", result.case.name, verdict.duration_ms / 1000, note)
