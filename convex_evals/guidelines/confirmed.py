"""What `cli validate-guidelines` found, as the file that it writes, and read from it for `cli diff-guidelines`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from convex_evals.analysis.compare.silent import Silence, silence
from convex_evals.errors import UserError
from convex_evals.guidelines.confirmed_tables import trials
from convex_evals.guidelines.revisions import Version, differ
from convex_evals.records.hashes import sha256_text
from convex_evals.records.validation import (
    PassedTrials,
    ValidatedEval,
    ValidatedVersion,
    ValidatedWhole,
    ValidationRecord,
)
from convex_evals.stats import Confirmation, EvalPair, Retested, Whole
from convex_evals.store.runs import RunStore
from convex_evals.store.validations import VALIDATION_NAME, ValidationFolder, validations

if TYPE_CHECKING:
    from convex_evals.guidelines.confirmation import Answered


@dataclass(frozen=True)
class Confirmed:
    """One model, and what the new trials say of the change."""

    model: str
    confirmation: Confirmation
    screening: dict[str, EvalPair]  # of the evals that flipped
    record: ValidationRecord

    @property
    def evals(self) -> frozenset[str]:
        """That were screened."""
        return frozenset((*self.record.evals, *self.record.unchanged))

    @property
    def silence(self) -> Silence | None:
        """Why nothing was found: none of a side's trials was scored; None where something was."""
        return None if self.evals else silence(self.record.left_out.values())

    def said_of(self, eval_id: str) -> str:
        """What the new trials of one eval say; empty where it was not screened."""
        again = next((e for e in self.confirmation.evals if e.pair.eval == eval_id), None)
        if again:
            return f"{trials(again.pair)} in new trials, {again.verdict.words if again.verdict else 'not confirmed'}"
        return "did not flip" if eval_id in self.record.unchanged else ""


def to_record(found: Confirmation, screening: Mapping[str, EvalPair], **facts: Any) -> ValidationRecord:
    """The file of one answer; `facts` are the fields that say what was asked. `screening` has all evals' trials."""
    again = {one.pair.eval: one for one in found.evals}
    whole = found.whole
    return ValidationRecord.model_validate(
        {
            **facts,
            "verdict": found.verdict,
            "difference": found.difference,
            "interval": found.interval,
            "detectable": found.detectable,
            "whole": whole and ValidatedWhole(p=whole.p, corrected=whole.corrected, confirmed=whole.verdict),
            "evals": {e: _eval(screening[e], again.get(e)) for e in found.flipped},
            "unchanged": tuple(e for e in sorted(screening) if e not in found.flipped),
        }
    )


def record_of(answer: Answered, **facts: Any) -> ValidationRecord:
    """`to_record`, with what the answer itself says of what was asked."""
    screened = answer.screened
    before, after = screened.question.sides
    return to_record(
        answer.confirmation,
        screened.by_eval,
        model=screened.model,
        before=version_record(before),
        after=version_record(after),
        days=tuple(sorted(answer.days)),
        left_out={x.eval: x.reason for x in screened.comparison.left_out},
        **facts,
    )


def version_record(version: Version) -> ValidatedVersion:
    return ValidatedVersion.model_validate(
        {
            "guidelines": None if version.bare else version.path,
            "guidelines_sha256": version.sha256,
            "prompt_sha256": _prompt(version),
        }
    )


def _prompt(version: Version) -> str | None:
    return None if version.prompt is None else sha256_text(version.prompt)


def _eval(screen: EvalPair, found: Retested | None) -> ValidatedEval:
    if found is None:
        return ValidatedEval(screening=_trials(screen), again=None, p=None, corrected=None, confirmed=None)
    own = {"p": found.p, "corrected": found.corrected, "confirmed": found.verdict}
    return ValidatedEval.model_validate({"screening": _trials(screen), "again": _trials(found.pair), **own})


def _trials(pair: EvalPair) -> PassedTrials:
    return PassedTrials(
        before_passed=pair.a_passed,
        before_scored=pair.a_scored,
        after_passed=pair.b_passed,
        after_scored=pair.b_scored,
    )


def find_confirmed(
    store: RunStore, before: Version, after: Version, experiment: str, models: Collection[str] | None = None
) -> list[Confirmed]:
    """What was found, for all models or for `models`, of exactly this change: guidelines, and prompts around them."""
    if not differ(before, after):
        return []
    wanted = [(v.sha256, _prompt(v)) for v in (before, after)]
    found = []
    for folder in validations(store):
        record = folder.read()
        if record is None or record.experiment != experiment or (models is not None and record.model not in models):
            continue
        if [(v.guidelines_sha256, v.prompt_sha256) for v in (record.before, record.after)] == wanted:
            found.append(_read(record, folder))
    return sorted(found, key=lambda one: one.model)


def _read(record: ValidationRecord, folder: ValidationFolder) -> Confirmed:
    """Raises `UserError` where the verdict is not what its own lines say."""
    screening = {e: _pair(e, one.screening) for e, one in record.evals.items()}
    evals = [
        Retested(_pair(e, one.again), one.p, one.corrected)
        for e, one in record.evals.items()
        if one.again is not None and one.p is not None and one.corrected is not None
    ]
    evals.sort(key=lambda e: (e.p, -abs(e.pair.difference), e.pair.eval))
    total = sum((e.pair.difference for e in evals), Fraction(0))
    found = Confirmation(
        screened=len(record.evals) + len(record.unchanged),
        flipped=tuple(sorted(record.evals)),
        evals=tuple(evals),
        whole=Whole(total, record.whole.p, record.whole.corrected) if record.whole else None,
        difference=record.difference,
        interval=record.interval,
        detectable=record.detectable,
        verdict=record.verdict,
    )
    said = [record.whole and record.whole.confirmed, *(record.evals[e.pair.eval].confirmed for e in evals)]
    lines = [found.whole and found.whole.verdict, *(e.verdict for e in evals)]
    if said != lines or ((found.shown or found.verdict.shown) and found.shown is not found.verdict):
        raise UserError(
            f"{folder.folder / VALIDATION_NAME}: its verdict is not what its lines say; restore it from Git"
        )
    return Confirmed(record.model, found, screening, record)


def _pair(eval_id: str, found: PassedTrials) -> EvalPair:
    return EvalPair(eval_id, found.before_passed, found.before_scored, found.after_passed, found.after_scored)
