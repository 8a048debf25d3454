"""`judges/PROVIDER/MODEL-KEY.json`: what a model said of replies that people have labelled."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Quoted, Record
from convex_evals.records.names import Dollars, Line, SessionId, Sha256, Slug


class Opinion(Record):
    """What a model says of one reply."""

    model: Slug = Field(description="the judge, a model's true slug")
    acceptable: bool | None = Field(description="null where no usable answer came")
    reason: Quoted = Field(description="the judge's own words, or why there is no answer")
    cost_usd: Dollars = Field(default=0.0, description="dollars that were paid for it")


class MeasuredOpinion(Opinion):
    """Of a reply that stands in a session."""

    asked_sha256: Sha256 = Field(description="of all that the judge was sent: valid as long as that would be the same")


class JudgeFile(FileRecord):
    """Written by `cli sessions judge`; how far it agrees with people is worked out with the labels of the day."""

    kind: Literal["judge"] = "judge"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    model: Slug = Field(description="the judge, a model's true slug")
    judge_sha256: Sha256 = Field(description="of the model with its parameters, the rubric and the way of asking")
    rubric: Line | None = Field(description="the file of the rubric, `path@REV` from Git; null for the usual one")
    opinions: dict[SessionId, MeasuredOpinion] = Field(description="by session")
