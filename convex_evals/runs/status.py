"""How far a run is, what came of it so far, and the command that resumes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from convex_evals.analysis.totals import category_table, run_to_data, unscored_lines
from convex_evals.config import Experiment
from convex_evals.records import Outcome, Summary
from convex_evals.records.journal import JournalEntry
from convex_evals.render.model import Section, apart
from convex_evals.runs.options import RunOptions, repeat, resume
from convex_evals.runs.pending import pending_line
from convex_evals.store.batches import BatchFolder
from convex_evals.store.journal import Journal
from convex_evals.store.run import Run
from convex_evals.store.summary import given_up, summarize
from convex_evals.text import counted


@dataclass(frozen=True)
class Status:
    run: Run
    summary: Summary  # of what is written, also where the run is not complete
    complete: bool
    in_part: bool  # `cli finish` summed up what there was
    busy: bool  # a process is at it now
    graded: int  # trials with a verdict in the journal, of evals that are not written yet
    pending: int  # trials whose requests are in batches
    waiting: dict[str, int]  # trials that the next command tries again, by the reason
    ungraded: int  # trials with a reply that is not graded yet
    unasked: int  # trials that no command asked for
    command: str | None  # resumes the run; None where there is nothing left, a process is at it, or evals are gone
    gone: tuple[str, ...] = ()  # evals that it planned and the suite no longer has, where it is not complete

    def to_data(self) -> dict[str, Any]:
        """For machines. `summary` is of what is written so far."""
        return {
            **run_to_data(self.run, self.summary),
            "complete": self.complete,
            "under_way": self.busy,
            "evals": {"planned": len(self.run.plan.evals), "written": len(self.summary.evals)},
            "journal": {"graded": self.graded, "waiting": self.waiting, "ungraded": self.ungraded},
            "unasked": self.unasked,
            "pending": self.pending,
            "go_on": self.command,
            "gone": list(self.gone),
        }

    def to_section(self) -> Section:
        plan, summary = self.run.plan, self.summary
        synthetic = "  (synthetic: no model was asked)" if plan.synthetic else ""
        head = [f"{plan.model}  {plan.experiment}  {plan.date}  {plan.run_id}{synthetic}", self._progress()]
        waiting = ", ".join(f"{n} x {why}" for why, n in self.waiting.items())
        rest = [
            f"in batches: {pending_line(self.run, self.pending).partition(': ')[2]}" if self.pending else None,
            f"to be tried again: {waiting}" if waiting else None,
            f"to be graded: {counted(self.ungraded, 'trial')}" if self.ungraded else None,
            f"not asked: {counted(self.unasked, 'trial')}" if self.unasked else None,
            f"Resume: {self.command}" if self.command else None,
            self.obstacle,
            f"Look at it: cli show {plan.run_id}",
        ]
        if not summary.evals:
            return Section.of(*head, *rest)
        totals = Section.of(category_table(summary), *unscored_lines(summary))
        return apart(Section.of(*head), totals, Section.of(*rest))

    @property
    def obstacle(self) -> str | None:
        """Why the run cannot be resumed."""
        if not self.gone:
            return None
        gone = f"{self.gone[0]} is no longer in the suite; restore it from Git, or plan another run"
        return f"{self.run.plan.run_id} cannot be resumed: {gone}"

    @property
    def state(self) -> str:
        if self.complete:
            return "complete"
        return "under way" if self.busy else "finished in part" if self.in_part else "not complete"

    def _progress(self) -> str:
        written, planned = len(self.summary.evals), len(self.run.plan.evals)
        if self.complete:
            unscored = self.summary.counts.unscored
            return f"complete: {counted(planned, 'eval')}{f'; unscored trials: {unscored}' if unscored else ''}"
        journal = f"; of the others, trials graded so far: {self.graded}" if self.graded else ""
        return f"{self.state}: {written} of {counted(planned, 'eval')} {'is' if planned == 1 else 'are'} done{journal}"


def status_of(run: Run, journal: Journal, suite_evals: Sequence[str], experiments: Mapping[str, Experiment]) -> Status:
    """What the files say of `run`. Nothing is written."""
    written = run.summary()
    # A summary of a part says nothing of what is under way, or journalled.
    found = None if written is None or written.missing else written
    summary = found or summarize(run)
    entries = [entry for each in ({} if found else journal.of_unwritten(run)).values() for entry in each]
    busy = found is None and journal.is_busy()
    gone = () if found else tuple(e for e in run.plan.evals if e not in suite_evals)
    rest: RunOptions | None = None
    if not busy and not gone and (summary.counts.unscored or len(summary.evals) < len(run.plan.evals)):
        rest = repeat(run.plan, suite_evals, experiments) if found else resume(run.plan)
        if found and given_up(run, found):
            rest = replace(rest, retry_unscored=True)
    waiting = Counter(why for e in entries if (why := _why_again(e)))
    pending = 0 if found else BatchFolder(run).pending()
    trials = 0 if found else run.plan.trials * sum(e not in summary.evals for e in run.plan.evals)
    return Status(
        run=run,
        summary=summary,
        complete=found is not None,
        in_part=written is not None and found is None,
        busy=busy,
        graded=sum(e.verdict is not None and e.verdict.outcome is not Outcome.UNSCORED for e in entries),
        pending=pending,
        waiting=dict(sorted(waiting.items())),
        ungraded=sum(e.generation.received and e.verdict is None for e in entries),
        unasked=max(0, trials - len(entries) - pending),
        command=rest.command() if rest else None,
        gone=gone,
    )


def _why_again(entry: JournalEntry) -> str | None:
    if entry.done or (entry.generation.received and entry.verdict is None):
        return None
    if not entry.generation.received:
        return entry.generation.fault or "not received"
    return "grading"
