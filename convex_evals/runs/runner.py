"""A plan to results: generate, grade, store; whatever happens on the way, nothing that was done is lost.

A reply costs money and minutes, and any moment may be the last one: Ctrl-C, `kill -9`, a full disk, a provider that is
down. So what is known of a trial is a state on disk, and all that the runner does is to take each trial to its next:

    batched    a file in the run's folder, if the model is asked by its provider's batch interface (models/batching/)
    asked      the reply's log: attempts that ended, and the text as far as it came
    received   a journal entry without a verdict; also where all attempts failed, with the reason
    graded     a journal entry with a verdict, which may be that the trial is unscored
    written    the eval's files in `runs/`, all trials together, once each of them is done

The next state is on disk before the last one is removed, so a kill between the two loses nothing.
Files in `runs/` are never changed, so an eval waits in the journal for as long as asking or grading again may help one
of its trials: it is *done* when it has a pass or a fail, or when three commands ended without one. A trace of one eval:

    command 1  trial 1  asked, received, graded: passed
               trial 2  asked, received; killed while it is graded
               trial 3  asked; killed with half of the reply in the log
    command 2  trial 1  is done, and only shown
               trial 2  is not asked again: graded: failed
               trial 3  the half reply becomes an attempt with the fault `interrupted`, at its estimated price; it is
                        asked again, and five attempts fail: received (nothing), graded: unscored
                        The eval is not written, since the next command may get a reply.
    command 3  trial 3  asked, received, graded: passed; its entry has the attempts and costs of both commands
                        All are done: the eval is written, then the summary, and the journal is dropped.

What an earlier run has of a trial comes in as received or graded, and continues from there.

Asking and grading can be commands of their own, on different machines with the journal handed over (`Stage`): the first
has the keys and executes nothing, the second executes what models wrote and has no keys.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from convex_evals.grading.verdict import unscored
from convex_evals.models import Ask, Item, LeftBehind, Solver
from convex_evals.models.faults import Fault, ModelStopped, OverBudget, ReplyPending
from convex_evals.records import Generation, GenerationFile, GradeFile, Outcome, Summary, TrialGrade, Verdict
from convex_evals.records.journal import MAX_COMMANDS, JournalEntry
from convex_evals.runs.judging import Judge
from convex_evals.runs.stage import Stage
from convex_evals.store.batches import BatchFolder
from convex_evals.store.files import remove_temporary
from convex_evals.store.journal import Journal
from convex_evals.store.reuse import EarlierRuns
from convex_evals.store.run import Run
from convex_evals.store.summary import summarize
from convex_evals.suite.prompt import Prompt


@dataclass(frozen=True)
class TrialDone:
    """This command has done what it does of a trial. `reused` where that was found and not made now."""

    eval_id: str
    trial: int
    verdict: Verdict | None  # None: it was only asked
    reused: bool
    generation: Generation


Emit = Callable[[TrialDone], None]


@dataclass
class Runner:
    """One run. Trials go their own ways: replies are graded while others stream."""

    run: Run
    journal: Journal
    solver: Solver
    judge: Judge
    prompts: Mapping[str, Prompt]
    emit: Emit
    earlier: EarlierRuns | None = None  # None: nothing is reused
    retry_unscored: bool = False
    only: Stage | None = None
    final: bool = False  # write evals with trials that have no verdict, too: the journal will not be here next time
    stopped: ModelStopped | None = None
    # With the judge: a trial that waits for one when the user stops us is not graded.
    places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))
    over_budget: int = 0  # trials that were not asked because the money would not do
    pending: int = 0  # trials whose requests are in batches that go on
    without_reply: int = 0  # trials that were not asked because this command only grades
    _asking: bool = field(default=True)
    batches: BatchFolder = field(init=False)

    def __post_init__(self) -> None:
        self.batches = BatchFolder(self.run)

    def stop_asking(self) -> None:
        """Send nothing more; what is being graded is finished."""
        self._asking = False
        self.solver.stop()
        self.judge.stop()

    async def complete(self, evals: Mapping[str, Item], only: Collection[str]) -> Summary | None:
        """Do what is left of the evals `only`; the run's summary once every eval of it is written.

        Raises `UserError` where another process is doing it.
        """
        with self.journal.locked():
            remove_temporary(self.run.folder, self.run.root)
            async with asyncio.TaskGroup() as group:
                for eval_id in only:
                    group.create_task(self._eval(evals[eval_id]))
            if not all(self.run.is_written(e) for e in self.run.plan.evals):
                return None
            summary = summarize(self.run)
            self.run.write_summary(summary)
            self.journal.drop()
            return summary

    async def _eval(self, ev: Item) -> None:
        if self.run.is_written(ev.id):
            generations = self.run.generations(ev.id)
            for t in self.run.grade(ev.id).trials:
                self.emit(TrialDone(ev.id, t.trial, t.verdict, True, generations[t.trial]))
            return
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._trial(ev, n)) for n in range(1, self.run.plan.trials + 1)]
        entries = [task.result() for task in tasks]
        whole = [e for e in entries if e is not None]
        if self.only is Stage.ASK:
            return
        if len(whole) == len(entries) and all(e.done or self.final for e in whole):
            self._write(ev, whole)

    async def _trial(self, ev: Item, trial: int) -> JournalEntry | None:
        """The trial's entry when this command has done what it can; None where it was not asked, or not graded."""
        entry = self._journalled(ev, trial) or self._reused(ev, trial) or self._handed_over(ev, trial)
        if entry is not None and entry.verdict is not None and self._is_done(entry):
            self.emit(TrialDone(ev.id, trial, entry.verdict, True, entry.generation))
            return entry
        found = entry
        if self.only and not self.only.asks:
            entry = entry if self._was_asked(ev, trial, entry) else None
            self.without_reply += entry is None
        elif entry is None or not entry.generation.received:
            entry = await self._asked(ev, trial, entry)
        if entry is None or self.only is Stage.CONCLUDE:
            return None
        if self.only is Stage.ASK:
            self.emit(TrialDone(ev.id, trial, None, entry is found, entry.generation))
            return entry
        return await self._graded(ev, entry)

    async def _graded(self, ev: Item, entry: JournalEntry) -> JournalEntry | None:
        """With a verdict, journalled; None where the user stopped us while it waited, or a judge cannot be asked."""
        async with self.places:
            if not self._asking:
                return None
            try:
                verdict = await self.judge.verdict(ev.id, entry.reply)
            except OverBudget:
                self.over_budget += 1
                return None
            except ModelStopped as stop:
                self.stopped = stop
                return None
        entry = entry.model_copy(update={"verdict": verdict, "commands": entry.commands + 1})
        self.journal.write(ev.id, entry)
        self.emit(TrialDone(ev.id, entry.generation.trial, verdict, False, entry.generation))
        return entry

    def _journalled(self, ev: Item, trial: int) -> JournalEntry | None:
        """What this run knows; a folder of another suite may have a run of the same name, which asked otherwise."""
        entry = self.journal.read(ev.id, trial)
        return entry if entry and entry.generation_key == self.run.plan.evals[ev.id].generation_key else None

    def _was_asked(self, ev: Item, trial: int, entry: JournalEntry | None) -> bool:
        """Whether there is a reply, or this run asked for one in vain; that an earlier run did is no reason to stop."""
        return entry is not None and (entry.generation.received or self._journalled(ev, trial) is not None)

    def _handed_over(self, ev: Item, trial: int) -> JournalEntry | None:
        """What is in the journal of a run that was never finished; a log without an entry is found when asking."""
        planned = self.run.plan.evals[ev.id]
        if self.earlier and self.journal.reply_log(ev.id, trial, planned.generation_key).is_empty():
            self.earlier.hand_over(ev.id, trial, planned.generation_key, planned.grading_key, self.journal)
        return self._journalled(ev, trial)

    def _is_done(self, entry: JournalEntry) -> bool:
        return entry.done and not (self.retry_unscored and _is_unscored(entry))

    def _reused(self, ev: Item, trial: int) -> JournalEntry | None:
        """What an earlier run knows of this trial."""
        planned = self.run.plan.evals[ev.id]
        found = self.earlier and self.earlier.find(ev.id, trial, planned.generation_key, planned.grading_key)
        if not found:
            return None
        generation = found.reply.generation
        if not generation.received:
            given_up = generation.commands >= MAX_COMMANDS
            verdict = unscored(generation.reason or "nothing was received") if given_up else None
            # What earlier attempts cost stands in their run; here it would be counted twice.
            carried = generation.model_copy(update={"attempts": (), "cost_usd": 0.0})
            return JournalEntry(
                generation_key=planned.generation_key,
                generation=carried,
                response=None,
                verdict=verdict,
                commands=generation.commands,
            )
        source = generation.reused_from or found.run.plan.run_id
        entry = JournalEntry(
            generation_key=planned.generation_key,
            generation=generation.model_copy(update={"reused_from": source}),
            response=found.reply.response,
            verdict=found.verdict and found.verdict.without_cost(),
            commands=found.commands,
        )
        self.journal.write(ev.id, entry)
        return entry

    async def _asked(self, ev: Item, trial: int, before: JournalEntry | None) -> JournalEntry | None:
        """A new reply, or the lack of one, journalled; None where no model may be asked any more."""
        if not self._asking or self.stopped:
            return None
        key = self.run.plan.evals[ev.id].generation_key
        log = self.journal.reply_log(ev.id, trial, key)
        ask = Ask(ev, trial, key, self.prompts[ev.id], self.batches, self._left_behind(ev, trial, before))
        try:
            reply = await self.solver.respond(ask, log)
        except ModelStopped as stop:
            self.stopped = stop
            return None
        except ReplyPending:
            self.pending += 1
            return None
        finally:
            log.close()
        if reply.generation.fault == Fault.BUDGET.word:
            # Not the model's fault: earlier attempts stay in the log, and the next command resumes.
            self.over_budget += 1
            return None
        generation = _joined(before.generation if before else None, reply.generation)
        notes = await self.judge.notes(reply.response) if reply.response is not None else ()
        entry = JournalEntry(
            generation_key=key,
            generation=generation.model_copy(update={"notes": notes}),
            response=reply.response,
            commands=before.commands if before else 0,
        )
        self.journal.write(ev.id, entry)
        log.drop()
        return entry

    def _left_behind(self, ev: Item, trial: int, before: JournalEntry | None) -> LeftBehind | None:
        """The request that an earlier command submitted for this trial, of this run or of one that it continues."""
        key = self.run.plan.evals[ev.id].generation_key
        used = [a.batch for a in before.generation.attempts if a.batch] if before else []
        ticket = self.batches.find(ev.id, trial, key, used)
        if ticket is not None:
            return LeftBehind(self.batches, ticket, is_counted=True)
        found = self.earlier and self.earlier.find_batch(ev.id, trial, key, used)
        return LeftBehind(*found, is_counted=False) if found else None

    def _write(self, ev: Item, entries: list[JournalEntry]) -> None:
        planned = self.run.plan.evals[ev.id]
        generation = GenerationFile(
            eval=ev.id, generation_key=planned.generation_key, trials=tuple(e.generation for e in entries)
        )
        grade = GradeFile(
            eval=ev.id,
            grading_key=planned.grading_key,
            sandbox=self.judge.sandbox,
            trials=tuple(
                TrialGrade(
                    trial=e.generation.trial,
                    generation_id=e.generation.generation_id,
                    verdict=e.verdict,
                    commands=max(1, e.commands),
                )
                for e in entries
                if e.verdict is not None
            ),
        )
        responses = {e.generation.trial: e.response for e in entries if e.response is not None}
        self.run.write_eval(generation, responses, grade)


def _is_unscored(entry: JournalEntry) -> bool:
    return entry.verdict is not None and entry.verdict.outcome is Outcome.UNSCORED


def _joined(before: Generation | None, new: Generation) -> Generation:
    """`new` with the attempts and the costs of earlier commands."""
    if before is None:
        return new
    return new.model_copy(
        update={
            "attempts": before.attempts + new.attempts,
            "cost_usd": before.cost_usd + new.cost_usd,
            "commands": before.commands + 1,
        }
    )
