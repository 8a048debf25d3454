"""The trials of runs, as exports go through them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from convex_evals.records import Generation, GradeFile, Outcome, RunPlan, TestResult, Verdict
from convex_evals.store.run import Run
from convex_evals.suite.asked import REPLY_NAME, AskedEval, AskedReader
from convex_evals.suite.extract import render_response
from convex_evals.suite.id_filter import IdFilter


@dataclass(frozen=True)
class ExportedTrial:
    """One trial: what came back, and what was said of it."""

    exported: ExportedRun
    eval_id: str
    generation: Generation
    verdict: Verdict
    graded: GradeFile

    @property
    def plan(self) -> RunPlan:
        return self.exported.run.plan

    @property
    def number(self) -> int:
        return self.generation.trial

    @property
    def category(self) -> str:
        return self.eval_id.partition("/")[0]

    @property
    def name(self) -> str:
        """Of the eval, with the number of the trial where there are several."""
        return self.eval_id if self.plan.trials == 1 else f"{self.eval_id} #{self.number}"

    @property
    def caught_by(self) -> str | None:
        return self.verdict.caught_by.value if self.verdict.caught_by else None

    @property
    def duration_ms(self) -> int:
        """Of the reply and of its grading."""
        return self.generation.duration_ms + self.verdict.duration_ms

    @property
    def reply(self) -> str | None:
        """As it came; None where nothing did, or it was pruned."""
        return self.exported.run.reply(self.eval_id, self.number)

    @property
    def asked(self) -> AskedEval:
        return self.exported.reader.read(self.exported.run, self.eval_id)

    @property
    def expected_reply(self) -> str | None:
        """The reply that would have been right; None where it is no longer known."""
        expected = self.asked.expected
        if expected is None:
            return None
        return expected[REPLY_NAME] if self.plan.comparison else render_response(expected)

    @property
    def reason(self) -> str | None:
        """Why it did not pass."""
        if self.verdict.outcome is Outcome.PASSED:
            return None
        return self.verdict.reason or self.generation.reason

    def tests(self, outcome: str) -> list[TestResult]:
        return [test for test in self.verdict.tests if test.outcome == outcome]


@dataclass(frozen=True)
class ExportedRun:
    """A run, and which of its trials are exported."""

    run: Run
    reader: AskedReader
    ids: IdFilter = field(default_factory=IdFilter)
    outcomes: Set[Outcome] = frozenset(Outcome)
    left_out: Counter[str] = field(default_factory=Counter)  # trials that a format has no place for, by the reason

    @property
    def chosen(self) -> list[str]:
        """The evals that were asked for, whether they are done or not."""
        return [e for e in sorted(self.run.plan.evals) if self.ids.matches(e)]

    @property
    def unfinished(self) -> list[str]:
        return [eval_id for eval_id in self.chosen if not self.run.is_written(eval_id)]

    def trials(self) -> Iterator[ExportedTrial]:
        """By eval, then by number. Raises `UserError` where a file of the run is broken."""
        summary = self.run.summary()
        for eval_id in self.chosen:
            if not (summary and eval_id in summary.evals) and not self.run.is_written(eval_id):
                continue
            graded = self.run.grade(eval_id, summary)
            generations = self.run.generations(eval_id)
            for trial in graded.trials:
                if trial.verdict.outcome in self.outcomes:
                    yield ExportedTrial(self, eval_id, generations[trial.trial], trial.verdict, graded)
