"""`generation.json`: what was asked and received, for all trials of one eval. Never changed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Record


class Usage(Record):
    input_tokens: int = Field(default=0, ge=0, description="tokens of the prompt")
    output_tokens: int = Field(default=0, ge=0, description="tokens of the reply, reasoning included")


class Generation(Record):
    """One reply, or the lack of one."""

    trial: int = Field(ge=1, description="number of the trial, from 1")
    generation_id: str = Field(description="identity of this reply; kept when it is reused, so that it is counted once")
    received: bool = Field(description="whether `<trial>.md` holds a reply")
    response_sha256: str | None = Field(description="of `<trial>.md`; null where nothing was received")
    finish_reason: str | None = Field(default=None, description="as the provider said it")
    reason: str | None = Field(default=None, description="why nothing was received")
    attempts: int = Field(default=1, ge=1, description="requests made for this trial")
    cost_usd: float = Field(default=0.0, ge=0, description="dollars, all attempts together")
    duration_ms: int = Field(default=0, ge=0, description="wall clock of the attempt that counted")
    usage: Usage = Field(default=Usage(), description="tokens of the attempt that counted")


class GenerationFile(FileRecord):
    kind: Literal["generation"] = "generation"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    eval: str = Field(description="eval id, `category/name`")
    generation_key: str = Field(description="as in run.json")
    trials: tuple[Generation, ...] = Field(description="in order of their number")
