"""A plan to results: generate, grade, store; whatever happens on the way, nothing that was done is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from convex_evals.extract import extract
from convex_evals.generate import Answerer
from convex_evals.grade.grader import Grader
from convex_evals.records import (
    Counts,
    EvalSummary,
    GenerationFile,
    GradeFile,
    Outcome,
    Summary,
    TrialGrade,
    Verdict,
)
from convex_evals.records.journal import JournalEntry
from convex_evals.store.files import remove_temporary
from convex_evals.store.journal import Journal
from convex_evals.store.runs import Run, grade_name
from convex_evals.suite import Eval


@dataclass(frozen=True)
class TrialDone:
    """A trial has a verdict. `reused` where it was found and not made now."""

    eval_id: str
    trial: int
    verdict: Verdict
    reused: bool


Emit = Callable[[TrialDone], None]


@dataclass(frozen=True)
class Runner:
    run: Run
    journal: Journal
    answerer: Answerer
    grader: Grader
    emit: Emit

    async def complete(self, evals: Mapping[str, Eval]) -> Summary | None:
        """Do what is left of the run; its summary, or None where trials are still to be tried again.

        Raises `UserError` where another process is doing it.
        """
        with self.journal.locked():
            return await self._complete(evals)

    async def _complete(self, evals: Mapping[str, Eval]) -> Summary | None:
        remove_temporary(self.run.folder)
        async with asyncio.TaskGroup() as group:
            for eval_id in self.run.plan.evals:
                group.create_task(self._eval(evals[eval_id]))
        if not all(self.run.is_written(e) for e in self.run.plan.evals):
            return None
        summary = summarize(self.run)
        self.run.write_summary(summary)
        self.journal.drop()
        return summary

    async def _eval(self, ev: Eval) -> None:
        if self.run.is_written(ev.id):
            for t in self.run.grade(ev.id).trials:
                self.emit(TrialDone(ev.id, t.trial, t.verdict, reused=True))
            return
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._trial(ev, n)) for n in range(1, self.run.plan.trials + 1)]
        entries = [task.result() for task in tasks]
        if all(entry.done for entry in entries):
            self._write(ev, entries)

    async def _trial(self, ev: Eval, trial: int) -> JournalEntry:
        entry = self.journal.read(ev.id, trial)
        if entry is None:
            key = self.run.plan.evals[ev.id].generation_key
            reply = await self.answerer.respond(ev, trial, key)
            entry = JournalEntry(generation=reply.generation, response=reply.response)
            self.journal.write(ev.id, entry)
        if entry.done and entry.verdict:
            self.emit(TrialDone(ev.id, trial, entry.verdict, reused=True))
            return entry
        verdict = await self.grader.grade(ev, extract(entry.response or "").files)
        entry = entry.model_copy(update={"verdict": verdict, "attempts": entry.attempts + 1})
        self.journal.write(ev.id, entry)
        self.emit(TrialDone(ev.id, trial, verdict, reused=False))
        return entry

    def _write(self, ev: Eval, entries: list[JournalEntry]) -> None:
        planned = self.run.plan.evals[ev.id]
        generation = GenerationFile(
            eval=ev.id, generation_key=planned.generation_key, trials=tuple(e.generation for e in entries)
        )
        grade = GradeFile(
            eval=ev.id,
            grading_key=planned.grading_key,
            sandbox=self.grader.tester.sandbox.level,
            trials=tuple(
                TrialGrade(trial=e.generation.trial, generation_id=e.generation.generation_id, verdict=e.verdict)
                for e in entries
                if e.verdict is not None
            ),
        )
        responses = {e.generation.trial: e.response for e in entries if e.response is not None}
        self.run.write_eval(generation, responses, grade)


def count(verdicts: list[Verdict]) -> Counts:
    return Counts(
        passed=sum(v.outcome is Outcome.PASSED for v in verdicts),
        failed=sum(v.outcome is Outcome.FAILED for v in verdicts),
        unscored=sum(v.outcome is Outcome.UNSCORED for v in verdicts),
    )


def summarize(run: Run) -> Summary:
    """The totals of a run whose evals are all written; derived from its files alone."""
    evals: dict[str, EvalSummary] = {}
    categories: dict[str, Counts] = {}
    cost, generation_ms, grading_ms = 0.0, 0, 0
    for eval_id, planned in run.plan.evals.items():
        verdicts = [t.verdict for t in run.grade(eval_id).trials]
        generations = run.generation(eval_id).trials
        counts = count(verdicts)
        scored = [v.score for v in verdicts if v.outcome is not Outcome.UNSCORED]
        evals[eval_id] = EvalSummary(
            counts=counts,
            grade=grade_name(planned.grading_key),
            score=round(sum(scored) / len(scored), 6) if scored else 0.0,
        )
        category = eval_id.partition("/")[0]
        categories[category] = categories.get(category, Counts()) + counts
        cost += sum(g.cost_usd for g in generations)
        generation_ms += sum(g.duration_ms for g in generations)
        grading_ms += sum(v.duration_ms for v in verdicts)
    plan = run.plan
    return Summary(
        run_id=plan.run_id,
        model=plan.model,
        experiment=plan.experiment,
        date=plan.date,
        counts=sum(categories.values(), Counts()),
        categories=categories,
        evals=evals,
        cost_usd=round(cost, 6),
        generation_ms=generation_ms,
        grading_ms=grading_ms,
    )
