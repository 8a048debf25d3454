"""Trials that failed alike, and what failures have in common. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from convex_evals.records import Outcome, StepName, StepOutcome, TrialGrade, Verdict
from convex_evals.reports.model import Check, Pattern, Signature
from convex_evals.reports.signature import complaint, gist, signature, signatures


@dataclass(frozen=True)
class FailureGroup:
    """Trials of one eval that failed alike."""

    eval_id: str
    kind: Signature
    grades: tuple[TrialGrade, ...]

    @property
    def first(self) -> TrialGrade:
        return self.grades[0]


def groups_of(eval_id: str, grades: Sequence[TrialGrade]) -> Iterator[FailureGroup]:
    """The trials of `eval_id` that failed, those that failed alike together."""
    by_kind: dict[str, list[TrialGrade]] = {}
    kinds: dict[str, Signature] = {}
    for grade in grades:
        if grade.verdict.outcome is Outcome.FAILED:
            kind = signature(grade.verdict)
            kinds[kind.key] = kind
            by_kind.setdefault(kind.key, []).append(grade)
    yield from (FailureGroup(eval_id, kinds[key], tuple(trials)) for key, trials in by_kind.items())


def checks_of(verdict: Verdict) -> Iterator[Check]:
    """All that failed, in the order of the steps."""
    for step in verdict.steps:
        if step.outcome is not StepOutcome.FAILED:
            continue
        failing = [t for t in verdict.tests if t.outcome == "failed"] if step.step is StepName.TESTS else []
        yield from (Check(t.name, t.message or "") for t in failing)
        if not failing:
            yield Check(step.step.value, step.reason or "no reason given")


def patterns(groups: Sequence[FailureGroup]) -> tuple[list[Pattern], int]:
    """What more than one failure has, the most frequent first; how many failures have nothing in common with another.

    Failures are numbered by their place in `groups`, from 1.
    """
    members: dict[tuple[str, str, str], dict[int, list[Signature]]] = {}
    for number, group in enumerate(groups, 1):
        for kind in signatures(group.first.verdict):
            # What one assertion says is about one test, whatever class of error it has.
            own = f"{group.eval_id} {kind.subject}" if kind.code == "assertion" else ""
            members.setdefault((kind.step, kind.code, own), {}).setdefault(number, []).append(kind)
    found = [_pattern(groups, inside) for inside in members.values() if len(inside) > 1]
    found.sort(key=lambda p: (-len(p.evals), -p.trials, p.step, p.code))
    grouped = {number for p in found for number in p.failures}
    return found, len(groups) - len(grouped)


def _pattern(groups: Sequence[FailureGroup], members: Mapping[int, Sequence[Signature]]) -> Pattern:
    inside = [groups[number - 1] for number in members]
    kinds = [kind for found in members.values() for kind in found]
    step, code = kinds[0].step, kinds[0].code
    first = inside[0]
    complaints = (complaint(c.message) for c in checks_of(first.first.verdict) if code in c.message)
    return Pattern(
        step=step,
        code=code,
        failures=tuple(members),
        evals=tuple(sorted({g.eval_id for g in inside})),
        trials=sum(len(g.grades) for g in inside),
        subjects=tuple(Counter(kind.subject for kind in kinds if kind.subject).most_common(3)),
        example=next(complaints, gist(first.first.verdict)),
        example_eval=first.eval_id,
    )
