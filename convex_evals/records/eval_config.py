"""`eval.yaml` (or `eval.json`) beside an eval's TASK.txt."""

from __future__ import annotations

from pydantic import Field, field_validator

from convex_evals.records.base import Record
from convex_evals.records.outcome import Pipeline


class Timeouts(Record):
    """Wall-clock limits of the steps of one trial. On expiry the step's whole process group is killed."""

    install: float = Field(default=180, gt=0, le=3600, description="seconds")
    deploy: float = Field(default=60, gt=0, le=3600, description="seconds")
    tsc: float = Field(default=60, gt=0, le=3600, description="seconds")
    eslint: float = Field(default=60, gt=0, le=3600, description="seconds")
    tests: float = Field(default=120, gt=0, le=3600, description="seconds; one test alone has half of it")


class EvalConfig(Record):
    """Optional settings of one eval; every key has a default."""

    concept: str = Field(default="", description="the one thing that a model must know to pass, in one line")
    tags: tuple[str, ...] = Field(default=(), description="free words to select and group by")
    pipeline: Pipeline = Field(default=Pipeline.FULL, description="`full`, or `static`: filesystem and tests only")
    timeouts: Timeouts = Field(default=Timeouts.model_construct(), description="limits of the steps, in seconds")

    @field_validator("pipeline", mode="before")
    @classmethod
    def _is_of_evals(cls, word: object) -> object:
        if word not in (Pipeline.FULL, Pipeline.STATIC):
            raise ValueError("input should be 'full' or 'static'")
        return word
