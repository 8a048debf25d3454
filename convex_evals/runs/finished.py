"""What came of the requests of one command: how many trials have what was asked for, and why the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from convex_evals.errors import ExitCode
from convex_evals.models.budget import Budget
from convex_evals.records import Summary
from convex_evals.records.journal import JournalEntry
from convex_evals.runs.costs import shortage
from convex_evals.runs.pending import pending_line
from convex_evals.runs.stage import Stage
from convex_evals.store.run import Run
from convex_evals.store.summary import summarize
from convex_evals.text import counted

NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Finished:
    """What came of one request."""

    run: Run
    summary: Summary | None  # of the whole run; None while evals of it are not written
    share: tuple[str, ...]  # the evals that were to be done
    journalled: Mapping[str, Sequence[JournalEntry]] = field(default_factory=dict)  # by eval that is not written
    without_reply: int = 0  # trials that could not be graded, where no model was to be asked
    pending: int = 0  # trials whose requests are in batches that go on
    only: Stage | None = None
    why_absent: str = NOT_ASKED  # of trials of which nothing is known

    @cached_property
    def totals(self) -> Summary:
        """Of the share."""
        return summarize(self.run, only=self.share)

    @cached_property
    def so_far(self) -> Summary:
        """Of the whole run, with the trials that are in the journal alone."""
        return self.summary or summarize(self.run, journalled=self.journalled)

    @property
    def all_passed(self) -> bool:
        """Whether every trial of the share passed."""
        trials = self.run.plan.trials
        return not self.totals.missing and all(e.counts.passed == trials for e in self.totals.evals.values())

    @property
    def trials(self) -> int:
        """Count what was asked for."""
        return len(self.share) * self.run.plan.trials

    @cached_property
    def lacking(self) -> Mapping[str, int]:
        """Count the trials of the share that have no verdict, or no reply where that was all that was asked for.

        By the reason. What waits for batches is not among them, nor is what has no reply where none was asked for.
        """
        if self.only is Stage.ASK:
            found, has = self.unreceived, self.received
        else:
            found, has = self._judged.unscored, self._judged.counts.scored
        rest = self.trials - has - sum(found.values()) - self.pending
        return {**found, self.why_absent: rest} if rest > 0 and not self.without_reply else found

    @property
    def received(self) -> int:
        """Count the trials of the share that have a reply: those of evals that are written, and some of the others."""
        written = sum(self.run.plan.trials for e in self.share if self.run.is_written(e))
        return written + sum(e.generation.received for e in self._entries)

    @property
    def unreceived(self) -> Mapping[str, int]:
        """Count the trials of the share that got no reply, by the fault."""
        entries = [e.generation for e in self._entries if not e.generation.received]
        return dict(sorted(Counter(g.fault or "not received" for g in entries).items()))

    @property
    def asked_cost_usd(self) -> float:
        """Add up what this run paid for replies to evals of the share that are not written."""
        return sum(e.generation.cost_usd for e in self._entries if e.generation.reused_from is None)

    @property
    def _entries(self) -> list[JournalEntry]:
        return [entry for e in self.share for entry in self.journalled.get(e, ())]

    @cached_property
    def _judged(self) -> Summary:
        """The share, with the trials that are in the journal alone."""
        if self.summary and set(self.share) == set(self.run.plan.evals):
            return self.summary
        mine = {e: self.journalled[e] for e in self.share if e in self.journalled}
        return summarize(self.run, only=self.share, journalled=mine)


def incomplete_line(ends: Iterable[Finished], *, unbegun: int = 0) -> str | None:
    """Say how many trials of what was asked for have no verdict, and why; None where all have one.

    `unbegun` trials are of requests that were never begun.
    """
    reasons: Counter[str] = Counter()
    trials, what = unbegun, "verdict"
    for end in ends:
        reasons.update(end.lacking)
        trials += end.trials
        what = "reply" if end.only is Stage.ASK else what
    if unbegun:
        reasons[NOT_ASKED] += unbegun
    left = sum(reasons.values())
    if not left:
        return None
    why = ", ".join(f"{n} x {reason}" for reason, n in sorted(reasons.items()))
    return f"{left} of {counted(trials, 'trial')} {'has' if left == 1 else 'have'} no {what} ({why})"


def _same_command(_run_ids: Sequence[str]) -> str:
    return "the same command"


@dataclass
class Ends:
    """What the requests of one command came to."""

    done: list[Finished] = field(default_factory=list, init=False)
    faults: list[str] = field(default_factory=list, init=False)  # why models were asked nothing more
    unasked: dict[str, int] = field(default_factory=dict, init=False)  # by run, trials that are over the budget
    unbegun: int = field(default=0, init=False)  # trials of requests that were not begun, since the work stopped before
    budget: Budget | None = field(default=None, init=False)  # that the requests share, where it has a limit
    shards: int = field(default=1, init=False)  # that share what the command line says of the budget
    # What resumes runs of these ids.
    same_command: Callable[[Sequence[str]], str] = field(default_factory=lambda: _same_command, init=False)

    @property
    def complaints(self) -> list[tuple[str, str]]:
        """What to tell of whatever was asked for and is not there: pairs of a kind and one line."""
        incomplete = [self._over_budget(), incomplete_line(self.done, unbegun=self.unbegun)]
        return [
            *(("error", line) for line in dict.fromkeys(self.faults)),
            *(("pending", pending_line(f.run, f.pending)) for f in self.done if f.pending),
            *(("incomplete", line) for line in incomplete if line),
        ]

    @property
    def fell_short(self) -> bool:
        """Whether something was not asked: a model cannot be, or the budget is too small."""
        return bool(self.faults or self.unasked)

    @property
    def exit_code(self) -> ExitCode:
        """OK if every trial that was asked for has a verdict, or a reply where that was all that was asked for."""
        codes = {"error": ExitCode.USER_ERROR, "pending": ExitCode.PENDING, "incomplete": ExitCode.INCOMPLETE}
        return next((codes[kind] for kind, _ in self.complaints), ExitCode.OK)

    def _over_budget(self) -> str | None:
        """Say what a budget was too small for, and what would do."""
        if not self.unasked or not self.budget:
            return None
        count = sum(self.unasked.values())
        trials, were = counted(count, "trial"), "was" if count == 1 else "were"
        one = next(iter(self.unasked)).partition(" ")[0]
        what = f"{one}: {trials}" if len(self.unasked) == 1 else f"{trials} of {len(self.unasked)} runs"
        again = self.same_command([f.run.plan.run_id for f in self.done])
        return f"{what} {were} not asked: {shortage(self.budget, self.shards, again)}"

    @property
    def all_passed(self) -> bool:
        """Whether every trial of this command's share passed."""
        return all(f.all_passed for f in self.done)
