"""Replies and verdicts of earlier runs: what has the same key is not paid for, or graded, twice."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.records import Generation, Outcome, Verdict
from convex_evals.records.grading_inputs import grade_name
from convex_evals.records.journal import MAX_COMMANDS
from convex_evals.records.reply import TrialReply
from convex_evals.store.batches import BatchFolder, Ticket
from convex_evals.store.journal import Journal
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.validations import newest, validations


@dataclass(frozen=True)
class EarlierTrial:
    """A trial of an earlier run. `verdict` is None where that run has no valid one.

    `commands` is how many graded the reply under the same key without getting one.
    """

    run: Run
    reply: TrialReply
    verdict: Verdict | None = None
    commands: int = 0


@dataclass
class EarlierRuns:
    """One model's runs, those of its validations included, newest first."""

    store: RunStore
    model: str
    journals: Path
    _runs: list[Run] | None = None
    _by_key: dict[tuple[str, str], list[Run]] = field(default_factory=dict)
    _batches: dict[Path, BatchFolder] = field(default_factory=dict)

    def find(self, eval_id: str, trial: int, generation_key: str, grading_key: str) -> EarlierTrial | None:
        """The newest trial with the same generation key: one that was received if there is any.

        Its verdict comes along where that run has a scored one under the same grading key.
        """
        unreceived: EarlierTrial | None = None
        for run in self._candidates(eval_id, generation_key):
            if not run.has_generation(eval_id):
                continue
            generation = next((g for g in run.generation(eval_id).trials if g.trial == trial), None)
            if generation is None:
                continue
            if not generation.received:
                unreceived = unreceived or EarlierTrial(run, TrialReply(generation, None))
                continue
            response = run.reply(eval_id, trial)
            if response is not None:
                reply = TrialReply(generation, response)
                return EarlierTrial(run, reply, *_verdict(run, eval_id, generation, grading_key))
        return unreceived

    def is_settled(self, eval_id: str, trial: int, generation_key: str) -> bool:
        """Whether no model would be asked for this trial: its reply is there, or was asked for often enough."""
        found = self.find(eval_id, trial, generation_key, "")
        if found and (found.reply.response is not None or found.reply.generation.commands >= MAX_COMMANDS):
            return True
        waiting = [run for run in self._candidates(eval_id, generation_key) if not run.has_generation(eval_id)]
        return any(Journal(self.journals, run.plan).has_reply(eval_id, trial, generation_key) for run in waiting)

    def hand_over(self, eval_id: str, trial: int, generation_key: str, grading_key: str, to: Journal) -> None:
        """Move a reply that another run never came to write from its journal to this one.

        So it is paid for once, and counts in the run that writes it. What a process is at is left alone.
        """
        for run in self._candidates(eval_id, generation_key):
            if run.has_generation(eval_id):
                continue
            valid = run.plan.evals[eval_id].grading_key == grading_key
            if Journal(self.journals, run.plan).hand_over(eval_id, trial, generation_key, to, with_verdict=valid):
                return

    def find_batch(
        self, eval_id: str, trial: int, generation_key: str, used: Collection[str]
    ) -> tuple[BatchFolder, Ticket] | None:
        """The newest request that another run submitted in a batch, and never came to write the reply to."""
        for run in self._candidates(eval_id, generation_key):
            folder = self._batches.setdefault(run.folder, BatchFolder(run))
            if run.has_generation(eval_id) or not folder.files() or Journal(self.journals, run.plan).is_busy():
                continue
            ticket = folder.find(eval_id, trial, generation_key, used)
            if ticket is not None:
                return folder, ticket
        return None

    def _candidates(self, eval_id: str, generation_key: str) -> list[Run]:
        key = (eval_id, generation_key)
        if key not in self._by_key:
            self._by_key[key] = [run for run in self._all() if _has(run, eval_id, generation_key)]
        return self._by_key[key]

    def _all(self) -> Iterator[Run]:
        if self._runs is None:
            validating = [run for found in validations(self.store, self.model) for run in found.runs()]
            self._runs = sorted([*self.store.of_model(self.model), *validating], key=newest, reverse=True)
        return iter(self._runs)


def _has(run: Run, eval_id: str, generation_key: str) -> bool:
    planned = run.plan.evals.get(eval_id)
    return planned is not None and planned.generation_key == generation_key


def _verdict(run: Run, eval_id: str, generation: Generation, grading_key: str) -> tuple[Verdict | None, int]:
    """A scored verdict, or how many commands ended without one."""
    if not run.has_grade(eval_id, grading_key):
        return None, 0
    grade = run.grade_file(eval_id, grade_name(grading_key))
    if grade.grading_key != grading_key:
        return None, 0
    found = [t for t in grade.trials if t.generation_id == generation.generation_id]
    scored = [t.verdict for t in found if t.verdict.outcome is not Outcome.UNSCORED]
    return (scored[0], 0) if scored else (None, max((t.commands for t in found), default=0))
