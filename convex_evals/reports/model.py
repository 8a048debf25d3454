"""What a report says, as data. The template gets a `Report`, `--json` prints one."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from convex_evals.analysis.totals import rate_to_data
from convex_evals.records import Counts
from convex_evals.stats import Rate, Tally


class Classification(StrEnum):
    """Whose business a failure is. All but the first are not the model's fault."""

    MODEL_FAULT = "model_fault"
    OVERLY_STRICT = "overly_strict"  # the grader refuses what the task allows
    AMBIGUOUS_TASK = "ambiguous_task"  # the task can be read like that
    KNOWN_GAP = "known_gap"  # something is known to be missing: in the guidelines, the backend, the documentation


@dataclass(frozen=True)
class Judgement:
    """A classification, and where it comes from."""

    classification: Classification
    reason: str
    by: str  # "a person", "a person, in REPORT", "a rule" or "the model SLUG"
    decided: bool  # by a person, here; everything else is a proposal


@dataclass(frozen=True)
class Link:
    """A file: `href` is relative to the report, None where it is outside of the repository."""

    text: str
    href: str | None


@dataclass(frozen=True)
class Check:
    """What failed: a test, or the complaint of another step."""

    name: str
    message: str


@dataclass(frozen=True)
class Signature:
    """What kind of failure it is, without what differs from one reply to the next."""

    step: str
    code: str  # an error code, a lint rule, an error's class, or the beginning of a message
    subject: str = ""  # what it is about: an API, a field, a test

    @property
    def key(self) -> str:
        return ":".join(part for part in (self.step, self.code, self.subject) if part)


@dataclass(frozen=True)
class Failure:
    """The trials of one eval that failed alike."""

    eval: str
    trials: tuple[int, ...]
    of_trials: int
    step: str
    gist: str  # what went wrong
    headline: str  # and where
    signature: Signature
    also: tuple[Signature, ...]  # what else is wrong with the first of the trials
    checks: tuple[Check, ...]  # of the first of the trials
    checks_left_out: int
    passed_tests: int
    tests: int
    task: str | None
    diff: str  # from what was expected to what the model wrote, where it matters
    diff_note: str
    notes: tuple[str, ...]  # what has changed since the run
    reply: Link
    files: tuple[Link, ...]
    proposed: Judgement
    decided: Judgement | None

    @property
    def judgement(self) -> Judgement:
        return self.decided or self.proposed


@dataclass(frozen=True)
class Unscored:
    eval: str
    trial: int
    reason: str


@dataclass(frozen=True)
class Part:
    """A pass rate and what belongs to it."""

    name: str
    counts: Counts
    rate: Rate
    cost_usd: float = 0.0
    duration_ms: int = 0  # replies and grading together
    tokens: int = 0


@dataclass(frozen=True)
class Step:
    """One step of grading, over all failed trials."""

    name: str
    caught: int  # trials that it caught first
    failed: int  # trials that it failed


@dataclass(frozen=True)
class Pattern:
    """What several failures have in common."""

    step: str
    code: str
    failures: tuple[int, ...]  # their numbers in the report
    evals: tuple[str, ...]
    trials: int
    subjects: tuple[tuple[str, int], ...]  # the most frequent first
    example: str
    example_eval: str


@dataclass(frozen=True)
class EvalHistory:
    """One eval over this run's trials and earlier runs: passed and scored trials, this run first."""

    eval: str
    runs: tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True)
class Action:
    """A commit since the run that changed what it was graded with."""

    commit: str
    date: str
    subject: str
    href: str | None
    about: tuple[str, ...]  # "grader of 000-x/001-y", "lint rules", ...
    evals: tuple[str, ...]


@dataclass(frozen=True)
class Flipped:
    """An eval that did better or worse than before."""

    eval: str
    difference: float  # of its pass rates
    surety: str  # how sure one can be of it


@dataclass(frozen=True)
class Previous:
    """Against the newest earlier run that can be compared."""

    run_id: str
    date: str
    counts: Counts
    rate: Rate
    verdict: str  # in words
    line: str  # the whole answer
    advice: str | None  # what would show more
    difference: float
    interval: tuple[float, float] | None
    p: float | None
    pairs: int  # evals
    flips: tuple[Flipped, ...]  # the surest first
    changed: tuple[str, ...]  # inputs that differ
    left_out: Mapping[str, int]  # evals in no pair, by the reason
    notes: tuple[str, ...]
    href: str | None


@dataclass(frozen=True)
class Impact:
    """Pass rates with and without what is not the model's fault."""

    counts: Counts
    decided: Counts  # without what people excused
    proposed: Counts  # without what is proposed too
    undecided: int  # failures that no person has decided
    by_class: Mapping[str, tuple[int, int]]  # trials: decided, proposed


@dataclass(frozen=True)
class Report:
    run_id: str
    date: str
    model: str
    experiment: str
    synthetic: bool
    facts: tuple[tuple[str, str], ...]  # identity, in the order in which it is shown
    counts: Counts
    evals: Mapping[str, Tally]  # passed and scored trials, by eval
    missing: tuple[str, ...]
    previous: Previous | None
    no_previous: str  # why there is none
    categories: tuple[Part, ...]
    steps: tuple[Step, ...]
    failures: tuple[Failure, ...]
    unscored: tuple[Unscored, ...]
    patterns: tuple[Pattern, ...]
    single: int  # failures that share no signature
    earlier_runs: tuple[str, ...]  # heads of `stability`, this run first
    stability: tuple[EvalHistory, ...]
    unstable: tuple[str, ...]  # evals whose trials disagree in this run
    actions: tuple[Action, ...]
    actions_note: str
    impact: Impact
    links: tuple[Link, ...]
    warnings: tuple[str, ...] = ()

    @property
    def rate(self) -> Rate:
        return Rate.of(self.evals.values())

    @property
    def rate_without_decided(self) -> Rate:
        """Without what people excused."""
        return self._rate_without(lambda judgement: judgement.decided)

    @property
    def rate_without_proposed(self) -> Rate:
        """Without what is proposed to be excused, too."""
        return self._rate_without(lambda judgement: True)

    def _rate_without(self, counts: Callable[[Judgement], bool]) -> Rate:
        left = dict(self.evals)
        for failure in self.failures:
            judgement = failure.judgement
            if judgement.classification is not Classification.MODEL_FAULT and counts(judgement):
                passed, scored = left[failure.eval]
                left[failure.eval] = Tally(passed, scored - len(failure.trials))
        return Rate.of(left.values())

    def to_data(self) -> dict[str, Any]:
        """For machines: all of it, with rates and intervals worked out."""
        data = _plain(self)
        assert isinstance(data, dict)
        data["pass_rates"] = {
            "all": rate_to_data(self.rate),
            "without_decided": rate_to_data(self.rate_without_decided),
            "without_proposed": rate_to_data(self.rate_without_proposed),
        }
        return data


def _plain(value: object) -> Any:
    if isinstance(value, Counts):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Sequence):
        return [_plain(v) for v in value]
    return json.loads(json.dumps(value))
