"""`validation.json`: what `cli validate-guidelines` found for one model."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Record
from convex_evals.records.names import Day, EvalId, ExperimentName, Line, Natural, Positive, Sha256, Slug, TrialNumber
from convex_evals.stats import Conclusion

Probability = Annotated[float, Field(ge=0, le=1)]
Difference = Annotated[float, Field(ge=-1, le=1)]


class ValidatedVersion(Record):
    """One side of the change."""

    guidelines: Line | None = Field(description="the file, relative to the suite; null where none were given")
    guidelines_sha256: Sha256 | None = Field(description="of the guidelines without comments, as in run.json")
    prompt_sha256: Sha256 | None = Field(description="of the prompt's template; null where the one that ships was used")


class PassedTrials(Record):
    """Of one eval, on both sides."""

    before_passed: Natural = Field(description="trials")
    before_scored: Positive = Field(description="trials")
    after_passed: Natural = Field(description="trials")
    after_scored: Positive = Field(description="trials")


class ValidatedEval(Record):
    """One eval that flipped."""

    screening: PassedTrials = Field(description="which decided that it is asked again, and nothing else")
    again: PassedTrials | None = Field(description="the new trials; null where a side has no verdict")
    p: Probability | None = Field(description="of the new trials alone, Fisher's exact test")
    corrected: Probability | None = Field(description="the same, corrected for all that could have been confirmed")
    confirmed: Literal[Conclusion.IMPROVED, Conclusion.REGRESSED] | None = Field(
        description="`improved` or `regressed`; null where neither is confirmed"
    )


class ValidatedWhole(Record):
    """All evals that were asked again, together."""

    p: Probability = Field(description="exact test of all new trials")
    corrected: Probability = Field(description="the same, corrected for all that could have been confirmed")
    confirmed: Literal[Conclusion.IMPROVED, Conclusion.REGRESSED] | None = Field(
        description="`improved` or `regressed`; null where neither is confirmed"
    )


class ValidationRecord(FileRecord):
    """What a change of guidelines was found to do to one model. Derivable from the runs beside it."""

    kind: Literal["validation"] = "validation"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    model: Slug = Field(description="true slug")
    experiment: ExperimentName = Field(description="name of the experiment")
    before: ValidatedVersion = Field(description="the guidelines before the change")
    after: ValidatedVersion = Field(description="the guidelines after it")
    trials: TrialNumber = Field(description="of the screening, per eval and side")
    rounds: TrialNumber = Field(description="of one new trial per side of each eval that flipped")
    days: tuple[Day, ...] = Field(description="UTC days on which rounds began; none where nothing flipped")
    models: Positive = Field(description="that were validated together, which p and verdicts are corrected for")
    verdict: Conclusion = Field(
        description="`improved`, `regressed`, `mixed`, `no_difference`, `underpowered` or `too_few`"
    )
    difference: Difference = Field(description="of pass rates over all screened evals; one that did not flip counts 0")
    interval: tuple[Difference, Difference] | None = Field(description="95 %, of `difference`; null where none flipped")
    detectable: Probability | None = Field(description="the least difference found four times out of five, roughly")
    whole: ValidatedWhole | None = Field(description="the change as a whole; null where nothing was asked again")
    evals: dict[EvalId, ValidatedEval] = Field(description="those that flipped, by eval id")
    unchanged: tuple[EvalId, ...] = Field(description="those that were screened and did not flip")
    left_out: dict[EvalId, Line] = Field(default={}, description="those that could not be compared, with the reason")
