"""What each side has to say about each eval, and which evals both can be asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from convex_evals.records import Generation, GradeFile, Outcome, Verdict
from convex_evals.records.grading_inputs import GradingInputs, grade_name
from convex_evals.stats import EvalPair
from convex_evals.store.run import Run
from convex_evals.store.summary import why_unscored


@dataclass(frozen=True)
class Side:
    """The runs that are taken together as one side."""

    label: str  # as it was asked for
    runs: tuple[Run, ...]  # newest first
    left_out: str | None = None  # how many runs that fit are not taken, and why

    @cached_property
    def planned(self) -> frozenset[str]:
        """The evals of all runs."""
        return frozenset(e for run in self.runs for e in run.plan.evals)

    @cached_property
    def counting(self) -> Mapping[Path, Mapping[str, str]]:
        """By folder of a run and eval: the name of the grade file that counts."""
        return {run.folder: _counting(run) for run in self.runs}


def _counting(run: Run) -> dict[str, str]:
    summary = run.summary()
    named = {e: found.grade for e, found in summary.evals.items()} if summary else {}
    written = {e: grade_name(plan.grading_key) for e, plan in run.plan.evals.items() if e not in named}
    return {**{e: name for e, name in written.items() if run.is_written(e)}, **named}


@dataclass(frozen=True)
class CountedTrial:
    """One trial, as it counts."""

    generation: Generation
    verdict: Verdict
    day: str | None  # on which the run began that asked for it; None: that run is gone


@dataclass
class Graded:
    """One side's verdicts on one eval under one grading key. Each reply is there once, whoever used it again."""

    run: Run  # the newest that has some
    replies: dict[str, CountedTrial] = field(default_factory=dict)  # by generation id
    sandboxes: set[str] = field(default_factory=set)

    def add(self, run: Run, file: GradeFile, generations: Mapping[int, Generation]) -> None:
        """`generations` are by trial."""
        self.sandboxes.add(file.sandbox or "none was needed")
        for trial in file.trials:
            known = self.replies.get(trial.generation_id)
            if known is None or known.verdict.outcome is Outcome.UNSCORED:
                generation = generations[trial.trial]
                self.replies[trial.generation_id] = CountedTrial(generation, trial.verdict, run.asked_on(generation))

    def without(self, ids: frozenset[str]) -> Graded:
        return Graded(self.run, {i: reply for i, reply in self.replies.items() if i not in ids}, self.sandboxes)

    def count(self, outcome: Outcome) -> int:
        return sum(reply.verdict.outcome is outcome for reply in self.replies.values())

    @property
    def scored(self) -> int:
        return len(self.replies) - self.count(Outcome.UNSCORED)

    @property
    def days(self) -> tuple[tuple[bool, ...], ...]:
        """By day on which it was asked: whether each scored trial passed."""
        found: dict[str | None, list[bool]] = {}
        for reply in self.replies.values():
            if reply.verdict.outcome is not Outcome.UNSCORED:
                found.setdefault(reply.day, []).append(reply.verdict.outcome is Outcome.PASSED)
        return tuple(map(tuple, found.values()))

    @property
    def unscored(self) -> Counter[str]:
        """Trials without a verdict, by the reason."""
        lost = [reply for reply in self.replies.values() if reply.verdict.outcome is Outcome.UNSCORED]
        return Counter(why_unscored(reply.verdict, reply.generation) for reply in lost)


@dataclass(frozen=True)
class Match:
    """One eval that both sides have verdicts on, under the same grading key."""

    eval: str
    a: Graded
    b: Graded
    shared: int  # replies that both sides have; they are on neither here

    @property
    def pair(self) -> EvalPair:
        a, b = self.a, self.b
        counts = a.count(Outcome.PASSED), a.scored, b.count(Outcome.PASSED), b.scored
        return EvalPair(self.eval, *counts, a.days, b.days)


@dataclass(frozen=True)
class LeftOut:
    """One eval that is in no pair."""

    eval: str
    reason: str


def match(a: Side, b: Side) -> Iterator[Match | LeftOut]:
    """What can be said of each eval of either side."""
    for eval_id in sorted(a.planned | b.planned):
        yield _match(a, b, eval_id)


def _match(a: Side, b: Side, eval_id: str) -> Match | LeftOut:
    for side, other in (("A", b), ("B", a)):
        if eval_id not in other.planned:
            return LeftOut(eval_id, f"only in {side}")
    sides = [_graded(side, eval_id) for side in (a, b)]
    if undone := [name for name, by_key in zip("AB", sides, strict=True) if not by_key]:
        return LeftOut(eval_id, f"not done in {' and '.join(undone)}")
    common = _common(*sides)
    if common is None:
        return LeftOut(eval_id, _why_not(eval_id, *sides))
    one, two = sides[0][common], sides[1][common]
    shared = frozenset(one.replies.keys() & two.replies.keys())
    if shared:
        one, two = one.without(shared), two.without(shared)
        if not (one.replies and two.replies):
            return LeftOut(eval_id, "the same replies on both sides")
    if unscored := {name: graded.unscored for name, graded in (("A", one), ("B", two)) if not graded.scored}:
        lost = sum(unscored.values(), Counter[str]())
        reasons = ", ".join(f"{n} x {why}" for why, n in sorted(lost.items()))
        return LeftOut(eval_id, f"no scored trial in {' and '.join(unscored)} ({reasons})")
    return Match(eval_id, one, two, len(shared))


ByKey = Mapping[str, Graded]


def _common(a: ByKey, b: ByKey) -> str | None:
    """The grading key under which both sides have most; the newest of equals."""
    keys = [key for key in a if key in b]
    return max(keys, key=lambda key: min(a[key].scored, b[key].scored), default=None)


def _graded(side: Side, eval_id: str) -> ByKey:
    """The verdicts that count: what a regrading replaced is a record, and says nothing any more."""
    found: dict[str, Graded] = {}
    for run in side.runs:
        if name := side.counting[run.folder].get(eval_id):
            file = run.grade_file(eval_id, name)
            found.setdefault(file.grading_key, Graded(run)).add(run, file, run.generations(eval_id))
    return found


def _why_not(eval_id: str, a: ByKey, b: ByKey) -> str:
    """What makes the verdicts of the two sides incomparable."""
    (a_key, one), (b_key, other) = next(iter(a.items())), next(iter(b.items()))
    plans = one.run.plan, other.run.plan
    evals = plans[0].evals[eval_id], plans[1].evals[eval_id]
    inputs = [GradingInputs.recorded(plan, eval_id) for plan in plans]
    found = [difference.name for difference in inputs[0].diff(inputs[1])]
    if (a_key, b_key) != (evals[0].grading_key, evals[1].grading_key) or not found:
        return "graded again under other rules" if not found else f"graded again; other {', '.join(found)}"
    return f"other {', '.join(found)}"
