"""`generation.json`: what was asked and received, for all trials of one eval. Never changed."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord, Quoted, Record
from convex_evals.records.names import Dollars, EvalId, Identity, Line, Natural, Positive, RunId, Sha256, TrialNumber

# The fault where a stand-in has no recorded reply: asking again changes nothing.
MISSING = "missing"


class Usage(Record):
    input_tokens: Natural = Field(default=0, description="tokens of the prompt")
    output_tokens: Natural = Field(default=0, description="tokens of the reply, reasoning included")
    cached_tokens: Natural = Field(default=0, description="of the prompt, those read from the provider's cache")
    reasoning_tokens: Natural = Field(default=0, description="of the reply, those that are not shown")


class Attempt(Record):
    """One request, whatever came of it."""

    fault: str | None = Field(default=None, description="a word of docs/running.md's table; null where a reply came")
    message: Quoted = Field(default=None, description="what the provider said, without keys")
    max_output_tokens: Positive | None = Field(default=None, description="the limit that was sent")
    cost_usd: Dollars = Field(default=0.0, description="dollars")
    duration_ms: Natural = Field(default=0, description="wall clock; 0 in a batch")
    batch: Identity | None = Field(default=None, description="batch that the request was in, by its token")


class Generation(Record):
    """One reply, or the lack of one."""

    trial: TrialNumber = Field(description="number of the trial, from 1")
    generation_id: Identity = Field(
        description="identity of this reply; kept when it is reused, so that it is counted once"
    )
    received: bool = Field(description="whether `<trial>.md` holds a reply")
    response_sha256: Sha256 | None = Field(description="of `<trial>.md`; null where nothing was received")
    finish_reason: str | None = Field(default=None, description="as the provider said it")
    fault: Line | None = Field(default=None, description="why nothing was received, or why what was is a failure")
    reason: Quoted = Field(default=None, description="the same in words")
    attempts: tuple[Attempt, ...] = Field(default=(), description="all requests made for this trial, in order")
    commands: Positive = Field(
        default=1, alias="rounds", description="runs that asked for this reply; after three it is left alone"
    )
    cost_usd: Dollars = Field(default=0.0, description="dollars, all attempts together")
    cost_estimated: bool = Field(default=False, description="true where a price map, and not the provider, says so")
    duration_ms: Natural = Field(default=0, description="wall clock of the attempt that counted")
    first_token_ms: Natural | None = Field(default=None, description="time to the first text of that attempt")
    usage: Usage = Field(default=Usage.model_construct(), description="tokens of that attempt")
    searches: Natural = Field(default=0, description="web searches that the provider reports")
    server: Line | None = Field(
        default=None, description="server that answered, as `https://HOST`; null where none was asked, or in a batch"
    )
    elsewhere: bool = Field(
        default=False, description="whether the model goes by a provider's name, and the server is no provider's own"
    )
    notes: tuple[str, ...] = Field(default=(), description="what was odd about the reply's format")
    reused_from: RunId | None = Field(default=None, description="run that paid for this reply; null: this one")


class GenerationFile(FileRecord):
    kind: Literal["generation"] = "generation"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    eval: EvalId = Field(description="eval id, `category/name`")
    generation_key: Sha256 = Field(description="as in run.json")
    trials: tuple[Generation, ...] = Field(description="in order of their number")
