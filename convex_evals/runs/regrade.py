"""Today's graders over stored replies: no model is asked, and nothing that was written before is changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.service import GradingService, check_graders
from convex_evals.grading.setup import ready_service
from convex_evals.records import Generation, GradeFile, Outcome, RunPlan, Summary, TrialGrade, Verdict
from convex_evals.records.grading_inputs import GradingInputs, grade_name
from convex_evals.records.journal import JournalEntry
from convex_evals.records.reply import TrialReply
from convex_evals.render.terminal import Display
from convex_evals.runs.grading_rules import current_rules, refuse_broken_graders
from convex_evals.runs.judging import ServiceJudge
from convex_evals.store.journal import Journal
from convex_evals.store.run import Run
from convex_evals.store.summary import summarize
from convex_evals.suite.suite import Eval, load_suite, refuse_incomplete
from convex_evals.vcs.git import changed_since


@dataclass(frozen=True)
class Today:
    """The evals as they stand now, with all that their verdicts depend on."""

    evals: Mapping[str, Eval]
    inputs: Mapping[str, GradingInputs]
    imports: Mapping[str, frozenset[str]]  # by eval id: files of its grader, relative to the suite

    def touched(self, changed: frozenset[str]) -> frozenset[str]:
        """The evals whose grader or answer has a file among `changed` (paths relative to the suite)."""
        answers = {e: f"evals/{e}/answer/" for e in self.evals}
        return frozenset(
            e for e, files in self.imports.items() if files & changed or any(c.startswith(answers[e]) for c in changed)
        )


async def look_at(service: GradingService, evals: Sequence[Eval]) -> Today:
    """Raises `UserError` where a grader cannot be parsed."""
    rules = await current_rules(service)
    checks = await check_graders(service, evals)
    refuse_broken_graders(checks)
    inputs = {e.id: rules.grading_inputs(e, checks[e.id]) for e in evals}
    imports = {e.id: frozenset(checks[e.id].inputs) for e in evals}
    return Today({e.id: e for e in evals}, inputs, imports)


@dataclass(frozen=True)
class VerdictChange:
    """A verdict that is another one now."""

    eval_id: str
    trial: int
    before: Verdict
    after: Verdict
    why: tuple[str, ...]

    def to_data(self) -> dict[str, Any]:
        return {
            "eval": self.eval_id,
            "trial": self.trial,
            "before": {"outcome": self.before.outcome.value, "caught_by": self.before.caught_by},
            "after": {"outcome": self.after.outcome.value, "caught_by": self.after.caught_by},
            "why": list(self.why),
        }


@dataclass
class Regrading:
    """What came of one run."""

    run: Run
    graded: int = 0  # trials
    changes: list[VerdictChange] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # eval id: why
    summary: Summary | None = None

    def to_data(self) -> dict[str, Any]:
        plan = self.run.plan
        return {
            "run_id": plan.run_id,
            "folder": str(self.run.folder),
            "model": plan.model,
            "experiment": plan.experiment,
            "graded": self.graded,
            "changed": [c.to_data() for c in self.changes],
            "left_out": self.left_out,
            "counts": self.summary.counts.model_dump() if self.summary else None,
        }


Emit = Callable[[Run, str, int, Verdict], None]


@dataclass
class Regrader:
    """Grades runs again. A reply that several of them have is graded once."""

    service: GradingService
    today: Today
    emit: Emit
    edited_tasks: bool = False
    only: frozenset[str] | None = None  # eval ids; None: all
    _verdicts: dict[tuple[str, str], asyncio.Task[Verdict]] = field(default_factory=dict)

    @property
    def _judge(self) -> ServiceJudge:
        return ServiceJudge(self.service, self.today.evals)

    def to_do(self, run: Run) -> tuple[list[str], dict[str, str]]:
        """The evals of `run` that another key judges now, and those that cannot be graded, with the reason."""
        chosen: list[str] = []
        left_out: dict[str, str] = {}
        for eval_id, planned in run.plan.evals.items():
            if self.only is not None and eval_id not in self.only:
                continue
            now = self.today.inputs.get(eval_id)
            if now is None:
                left_out[eval_id] = "no longer in the suite"
            elif not run.is_written(eval_id):
                left_out[eval_id] = "not done yet; `cli run` resumes it"
            elif now.task_sha256 != planned.task_sha256 and not self.edited_tasks:
                left_out[eval_id] = "TASK.txt was edited: the reply answers another task (--edited-tasks grades it)"
            elif run.grade(eval_id).grading_key != now.key():
                chosen.append(eval_id)
        return chosen, left_out

    async def regrade(self, run: Run, journal: Journal) -> Regrading:
        """Grade what is to be graded. An eval's grade file is added when its trials are judged; the summary is last."""
        with journal.locked():
            chosen, left_out = self.to_do(run)
            found = Regrading(run, left_out=left_out)
            async with asyncio.TaskGroup() as group:
                for eval_id in chosen:
                    group.create_task(self._eval(run, eval_id, journal, found))
            counting = {e: run.grade(e).grading_key for e in run.plan.evals if run.is_written(e)}
            counting |= {e: self.today.inputs[e].key() for e in chosen if e not in left_out}
            if run.summary() is not None:
                found.summary = summarize(run, counting={e: grade_name(key) for e, key in counting.items()})
                if found.summary != run.summary():
                    run.write_summary(found.summary)
            if not set(chosen) & set(left_out):
                journal.drop()
            found.changes.sort(key=lambda c: (c.eval_id, c.trial))
            return found

    async def _eval(self, run: Run, eval_id: str, journal: Journal, found: Regrading) -> None:
        key = self.today.inputs[eval_id].key()
        before = {t.trial: t.verdict for t in run.grade(eval_id).trials}
        if run.has_grade(eval_id, key):
            after = {t.trial: t.verdict for t in run.grade_file(eval_id, grade_name(key)).trials}
        else:
            generations = run.generation(eval_id).trials
            try:
                replies = {g.trial: run.response(eval_id, g.trial) for g in generations}
            except UserError as error:
                found.left_out[eval_id] = str(error).rpartition(": ")[2]
                return
            async with asyncio.TaskGroup() as group:
                tasks = {
                    g.trial: group.create_task(self._trial(run, eval_id, g, replies[g.trial], journal))
                    for g in generations
                }
            after = {trial: task.result() for trial, task in tasks.items()}
            found.graded += len(after)
            if any(after[g.trial].outcome is Outcome.UNSCORED for g in generations if g.received):
                found.left_out[eval_id] = "could not be graded; run the same command again"
                return
            run.write_grade(self._file(eval_id, generations, after))
        why = reasons(run.plan, eval_id, self.today) or ("the inputs are as planned, unlike at the last grading",)
        found.changes += [
            VerdictChange(eval_id, trial, old, after[trial], why)
            for trial, old in before.items()
            if trial in after and (old.outcome, old.caught_by) != (after[trial].outcome, after[trial].caught_by)
        ]

    async def _trial(
        self, run: Run, eval_id: str, generation: Generation, response: str | None, journal: Journal
    ) -> Verdict:
        place = f"{self.today.inputs[eval_id].key()[:8]}/{eval_id}"
        kept = journal.read(place, generation.trial)
        if kept is not None and kept.verdict is not None and kept.generation == generation:
            return kept.verdict
        key = eval_id, generation.generation_id
        if key not in self._verdicts:
            work = self._judge.verdict(eval_id, TrialReply(generation, response))
            self._verdicts[key] = asyncio.ensure_future(work)
        verdict = await self._verdicts[key]
        if verdict.outcome is not Outcome.UNSCORED:
            journal.write(place, JournalEntry(generation=generation, response=None, verdict=verdict))
        self.emit(run, eval_id, generation.trial, verdict)
        return verdict

    def _file(self, eval_id: str, generations: Sequence[Generation], verdicts: Mapping[int, Verdict]) -> GradeFile:
        return GradeFile(
            eval=eval_id,
            grading_key=self.today.inputs[eval_id].key(),
            sandbox=self._judge.sandbox,
            trials=tuple(
                TrialGrade(trial=g.trial, generation_id=g.generation_id, verdict=verdicts[g.trial]) for g in generations
            ),
        )


def reasons(plan: RunPlan, eval_id: str, today: Today) -> tuple[str, ...]:
    """Which inputs of a verdict differ between the run's plan and now."""
    return tuple(map(str, GradingInputs.recorded(plan, eval_id).diff(today.inputs[eval_id])))


@dataclass(frozen=True)
class Scope:
    """What of the runs is graded again."""

    since: str | None = None  # a Git revision: only evals whose grader or answer changed since
    edited_tasks: bool = False  # also replies to a task that was edited


async def regrade_runs(
    workspace: Workspace, runs: Sequence[Run], scope: Scope, workers: int, containment: Containment, display: Display
) -> list[Regrading]:
    """Grade `runs` again, one after the other.

    Raises `UserError` where a grader cannot be used, and for runs of sessions, which no grader judges.
    """
    for run in runs:
        if run.plan.comparison:
            raise UserError(
                f"{run.plan.run_id}: is a run of sessions; `cli run --sessions -m {run.plan.model}` compares its "
                "replies again, and asks for none that are here"
            )
    changed = changed_since(workspace.suite, scope.since) if scope.since else None
    wanted = {e for run in runs for e in run.plan.evals}
    evals = [e for e in load_suite(workspace.suite).evals if e.id in wanted]
    refuse_incomplete(evals)

    def show(run: Run, eval_id: str, trial: int, verdict: Verdict) -> None:
        name = f"{eval_id} #{trial}" if len(runs) == 1 else f"{run.plan.run_id} {eval_id} #{trial}"
        display.item(verdict.outcome.value, name, verdict.duration_ms / 1000)

    async with ready_service(
        workspace.suite, workspace.config, workers, display.preparing, display.warn, containment
    ) as grader:
        if not evals:
            return []
        today = await look_at(grader, evals)
        only = None if changed is None else today.touched(changed)
        regrader = Regrader(grader, today, show, scope.edited_tasks, only)
        display.start("trials to grade", sum(run.plan.trials * len(regrader.to_do(run)[0]) for run in runs))
        journals = workspace.journal_dir
        return [await regrader.regrade(run, Journal(journals, run.plan, purpose=".regrade")) for run in runs]
