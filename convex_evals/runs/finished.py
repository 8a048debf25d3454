"""What came of the requests of one command: how many trials have what was asked for, and why the others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from convex_evals.records import Summary
from convex_evals.records.journal import JournalEntry
from convex_evals.runs.stage import Stage
from convex_evals.store.run import Run
from convex_evals.store.summary import summarize
from convex_evals.text import counted

NOT_ASKED = "not asked"
NO_REPLY = "no reply to grade"


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

        By the reason; what waits for batches is not among them.
        """
        if self.only is Stage.ASK:
            found, has = self.unreceived, self.received
        else:
            found, has = self._judged.unscored, self._judged.counts.scored
        rest = self.trials - has - sum(found.values()) - self.pending
        reason = NO_REPLY if self.without_reply else self.why_absent
        return {**found, **({reason: rest} if rest > 0 else {})}

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
