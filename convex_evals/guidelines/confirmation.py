"""The runs of `cli validate-guidelines`: all evals are screened, then those that flipped are asked again in rounds.

All are runs like others, in a folder of their own (`store/validations.py`). In a round both sides have one new trial of
each such eval, at the same time: trials of one run may be more alike than their eval makes them, so that several of
them would say less than they seem to, and whatever the hour brings, it brings to both sides. These runs are fresh, and
named after the screening that asks for them, so that the same command finds them again, and no reply that made an eval
flip is ever among those that confirm it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from convex_evals.analysis.compare import Comparison, Side, compare
from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.guidelines.revisions import Version
from convex_evals.models.budget import Budget
from convex_evals.records.hashes import sha256_text
from convex_evals.records.journal import MAX_COMMANDS
from convex_evals.runs.costs import Estimate, estimate, left_to_ask, total
from convex_evals.runs.options import RunOptions
from convex_evals.runs.plan import RunRequest, keys_of
from convex_evals.runs.request import Resolved, make_resolver
from convex_evals.stats import Confirmation, EvalPair, confirm, flipped
from convex_evals.store.journal import Journal
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.validations import ValidationFolder, find_validation
from convex_evals.suite.id_filter import pattern_of

Resolver = Callable[[RunOptions], Resolved]
# How runs are named that confirm a screening: of evals that chance chose, and of no others.
_CONFIRMATION = "confirm-"


@dataclass(frozen=True)
class Question:
    """What a change of guidelines does to one model."""

    model: str  # as it was asked for
    before: Version
    after: Version
    within: ValidationFolder  # where its runs are
    hunk: int | None = None  # None: the whole change

    @property
    def sides(self) -> tuple[Version, Version]:
        return self.before, self.after


@dataclass(frozen=True)
class Screened:
    """A question after the screening."""

    question: Question
    runs: tuple[Run, Run]
    comparison: Comparison

    @property
    def model(self) -> str:
        return self.runs[0].plan.model

    @property
    def flipped(self) -> tuple[str, ...]:
        return flipped(self.comparison.pairs)

    @property
    def by_eval(self) -> dict[str, EvalPair]:
        return {pair.eval: pair for pair in self.comparison.pairs}


@dataclass(frozen=True)
class Answered:
    """A question after all rounds."""

    screened: Screened
    rounds: tuple[tuple[Run, Run], ...]  # both sides of each; none where nothing flipped
    confirmation: Confirmation

    @property
    def days(self) -> frozenset[str]:
        """On which the rounds were begun."""
        return frozenset(run.plan.date for sides in self.rounds for run in sides)


def make_rounds(
    workspace: Workspace, experiment: str, options: RunOptions, *, again: int, budget: float | None
) -> Rounds:
    """`budget` is in dollars. Raises `UserError`."""
    money = Budget(budget)
    resolver = make_resolver(workspace, money, options.concurrency, options.timeout)
    return Rounds(workspace, RunStore(workspace.runs_dir), money, resolver, experiment, options, again)


@dataclass(frozen=True)
class Rounds:
    """Makes the requests of the screening and of all rounds, and judges what came of them."""

    workspace: Workspace
    store: RunStore
    budget: Budget
    resolver: Resolver
    experiment: str
    options: RunOptions  # of the screening: which evals, and how many trials per eval and side
    again: int  # rounds, of one trial

    def questions(self, models: Sequence[str], before: Version, after: Version) -> list[Question]:
        """One a model, though it may go by several names. Raises `UserError` where one means nothing."""
        found: dict[str, Question] = {}
        for name in models:
            sides = [self._request(self._asking(name, version), version) for version in (before, after)]
            model, day = sides[0].solver.model, sides[0].date
            keys = [keys_of(request) for request in sides]
            facts = [self.experiment, before.sha256, after.sha256, self.options.trials, self.again, keys]
            identity = sha256_text(json.dumps(facts, sort_keys=True))[:12]
            found.setdefault(model, Question(name, before, after, find_validation(self.store, model, identity, day)))
        return list(found.values())

    def screening(self, questions: Sequence[Question]) -> dict[tuple[str, str | None], RunRequest]:
        """By model and hash of the guidelines: sides that several questions have are asked once. Raises `UserError`."""
        found: dict[tuple[str, str | None], RunRequest] = {}
        for question in questions:
            for version in question.sides:
                if (question.model, version.sha256) not in found:
                    request = self._request(self._asking(question.model, version), version)
                    found[question.model, version.sha256] = replace(request, within=question.within)
        return found

    def screened(self, question: Question, runs: Mapping[tuple[str, str | None], Run]) -> Screened:
        a, b = (runs[question.model, version.sha256] for version in question.sides)
        return Screened(question, (a, b), self._compare(question, [(a, b)]))

    def confirming(self, screened: Screened) -> list[tuple[RunRequest, RunRequest]]:
        """Both sides of each round; none where nothing flipped."""
        if not screened.flipped:
            return []
        a, b = (self._confirming(screened, version) for version in screened.question.sides)
        return list(zip(a, b, strict=True))

    def answered(self, screened: Screened, rounds: Sequence[tuple[Run, Run]]) -> Answered:
        """Judge the rounds by their own replies. Raises `UserError` where they have some of the screening."""
        if not rounds:
            return Answered(screened, (), confirm(screened.comparison.pairs, []))
        seen = {reply for run in screened.runs for reply in _replies(run, screened.flipped)}
        for run in (run for sides in rounds for run in sides):
            if seen.intersection(_replies(run, screened.flipped)) or not run.plan.fresh:
                raise UserError(f"{run.folder}: has replies of the screening, and confirms nothing; delete it")
        again = self._compare(screened.question, rounds).pairs
        return Answered(screened, tuple(rounds), confirm(screened.comparison.pairs, again))

    def price(self, requests: Sequence[RunRequest], *, fresh: bool = False) -> Estimate:
        """Without what is in runs and journals already."""
        return total(estimate(r, self._left_of_run(r) if fresh else self._left(r)) for r in requests)

    def most_again(self, screening: Sequence[RunRequest], sides: int) -> Estimate:
        """What all rounds cost if everything flips. `sides` are the requests that each would have."""
        rows = [estimate(r, {e.id: self.again for e in r.evals}) for r in screening]
        return total(rows).scaled(sides / len(rows))

    def _confirming(self, screened: Screened, version: Version) -> list[RunRequest]:
        """One side of each round."""
        name = self._name(screened, version)
        options = replace(
            self._asking(screened.question.model, version),
            patterns=(pattern_of(screened.flipped),),
            categories=(),
            tags=(),
            trials=1,
            run_id=name,
        )
        one = replace(self._request(options, version), within=screened.question.within)
        return [replace(one, run_id=f"{name}-{number:02}") for number in range(1, self.again + 1)]

    def _name(self, screened: Screened, version: Version) -> str:
        """Of the runs that confirm exactly this screening: another one's replies may be in its own."""
        evals = {
            e: [
                (run.plan.evals[e].generation_key, run.plan.evals[e].grading_key, sorted(_replies(run, [e])))
                for run in screened.runs
            ]
            for e in screened.flipped
        }
        facts = [screened.model, self.experiment, version.sha256, self.again, evals]
        return f"{_CONFIRMATION}{sha256_text(json.dumps(facts, sort_keys=True))[:12]}"

    def _asking(self, model: str, version: Version) -> RunOptions:
        """The screening of one side."""
        return version.asked(replace(self.options, models=(model,)), self.experiment, self.workspace)

    def _request(self, options: RunOptions, version: Version) -> RunRequest:
        resolved = self.resolver(options)
        if not resolved.requests:
            raise UserError("; ".join(resolved.skipped))
        (request,) = resolved.requests
        if request.asked.guidelines_sha256 != version.sha256:
            raise UserError(f"-m {options.models[0]}: gets no guidelines; name a model of models.yaml")
        return request

    def _compare(self, question: Question, rounds: Sequence[tuple[Run, Run]]) -> Comparison:
        a, b = zip(*rounds, strict=True)
        return compare(Side(question.before.label, a), Side(question.after.label, b))

    def _left(self, request: RunRequest) -> dict[str, int]:
        """Trials of each eval that no run and no journal has."""
        return left_to_ask(request, self.store, self.workspace)

    def _left_of_run(self, request: RunRequest) -> dict[str, int]:
        """The same of a fresh run, which takes nothing from others."""
        run = request.within.opened(request.run_id) if request.within else None
        if run is None:
            return {e.id: request.trials for e in request.evals}
        journal = Journal(self.workspace.journal_dir, run.plan)
        left = {}
        for e in request.evals:
            entries = [] if run.is_written(e.id) else [journal.read(e.id, n) for n in range(1, request.trials + 1)]
            left[e.id] = sum(
                x is None or not (x.generation.received or x.generation.commands >= MAX_COMMANDS) for x in entries
            )
        return left


def _replies(run: Run, evals: Sequence[str]) -> set[str]:
    """The ids of their generations."""
    return {g.generation_id for e in evals for g in run.generation(e).trials}
