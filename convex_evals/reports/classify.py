"""Whose fault a failure is: decided by people, else proposed from what they decided before, else by rules. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from convex_evals.errors import UserError
from convex_evals.records import StepName, StepOutcome, Verdict
from convex_evals.reports.human_sections import SectionKey, Written
from convex_evals.reports.model import Classification, Judgement, Signature

# So many models, all of them wrong, say something about the task.
MANY_MODELS = 4
_WORDS = [c.value for c in Classification]
_MARKS = "*_`>-:. \t"


@dataclass(frozen=True)
class Decision:
    """What a person decided in a report."""

    eval: str
    signature: str
    classification: Classification
    reason: str
    report: str  # its path below reports/
    date: str  # of the run


class WrongDecisions(UserError):
    """Decisions of one report that mean nothing, all of them."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("; ".join(lines))
        self.lines = tuple(lines)


def read_decision(written: Written, where: str) -> tuple[Classification, str] | None:
    """Classification and reason that stand in a place; None where it is blank.

    Raises `UserError`, with the line, where the first word is none of the four.
    """
    lines = written.text.split("\n")
    at = next((i for i, line in enumerate(lines) if line.strip()), None)
    if at is None:
        return None
    first = lines[at].strip().lstrip(_MARKS)
    word = first.split()[0] if first.split() else lines[at].strip()
    bare = word.partition(":")[0].strip(_MARKS).lower().replace("-", "_")
    if bare not in _WORDS:
        near = difflib.get_close_matches(bare, _WORDS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"write one of {', '.join(_WORDS)}"
        raise UserError(f"{where}:{written.line + at}: {word[:40]!r} is not a classification; {hint}")
    after = first[len(word.partition(":")[0]) :]
    reason = " ".join([after.lstrip(_MARKS), *(x.strip() for x in lines[at + 1 :])]).strip()
    return Classification(bare), reason


def read_decisions(places: Iterable[Written | None], where: str) -> list[tuple[Classification, str] | None]:
    """What stands in each of the places. Raises `WrongDecisions`, which names all that mean nothing."""
    found: list[tuple[Classification, str] | None] = []
    wrong: list[str] = []
    for written in places:
        try:
            found.append(read_decision(written, where) if written else None)
        except UserError as error:
            wrong.append(str(error))
    if wrong:
        raise WrongDecisions(wrong)
    return found


def decisions(places: Iterable[tuple[SectionKey, Written]], report: str, date: str) -> list[Decision]:
    """Those of one report. Raises `WrongDecisions`."""
    wanted = {place: written for place, written in places if place.kind == "classification"}
    found = zip(wanted, read_decisions(wanted.values(), report), strict=True)
    return [Decision(place.eval, place.signature, *said, report, date) for place, said in found if said]


def propose(
    eval_id: str, kind: Signature, verdict: Verdict, earlier: Sequence[Decision], models_asked: int, models_passed: int
) -> Judgement:
    """A proposal for one failure. `earlier` are decisions of other reports; `models_asked` counts other models."""
    return _as_before(eval_id, kind, earlier) or _by_rule(kind, verdict, models_asked, models_passed)


def _as_before(eval_id: str, kind: Signature, earlier: Sequence[Decision]) -> Judgement | None:
    alike = [d for d in earlier if d.signature == kind.key]
    same = [d for d in alike if d.eval == eval_id]
    # Of another eval only what people agree on, and no test of it, nor a type error's bare code, has one meaning.
    vague = kind.code == "assertion" or (kind.step == StepName.TSC and not kind.subject)
    if not same and (vague or len({d.classification for d in alike}) != 1):
        return None
    last = max(same or alike, key=lambda d: (d.date, d.report))
    where = "" if last.eval == eval_id else f" for {last.eval}"
    reason = last.reason or "no reason was given"
    return Judgement(last.classification, f"decided{where} before: {reason}", f"a person, in {last.report}", False)


def _by_rule(kind: Signature, verdict: Verdict, models_asked: int, models_passed: int) -> Judgement:
    failed = {s.step for s in verdict.steps if s.outcome is StepOutcome.FAILED}
    tests = [t for t in verdict.tests if t.outcome != "skipped"]
    if models_asked >= MANY_MODELS and not models_passed:
        why = f"none of {models_asked} other models passed this eval: the task may not say what the grader wants"
        return _proposal(Classification.AMBIGUOUS_TASK, why)
    if failed == {StepName.ESLINT} and tests and all(t.outcome == "passed" for t in tests):
        whole = "its only test" if len(tests) == 1 else f"all {len(tests)} tests"
        why = f"it works: {whole} passed, and only the lint rule {kind.code} objects"
        return _proposal(Classification.OVERLY_STRICT, why)
    whys = {
        StepName.FILESYSTEM: "the reply itself cannot be used",
        StepName.INSTALL: "its dependencies cannot be installed",
        StepName.DEPLOY: "it cannot be deployed",
        StepName.TSC: "it does not pass the type check",
        StepName.ESLINT: "a lint rule objects, and not every test passed",
        StepName.TESTS: "it behaves otherwise than the task demands",
    }
    return _proposal(Classification.MODEL_FAULT, whys[StepName(kind.step)])


def _proposal(classification: Classification, reason: str) -> Judgement:
    return Judgement(classification, reason, "a rule", False)
