"""Coding sessions: `session.json`, which an import writes, and the label that people give."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, field_validator

from convex_evals.records.base import FileRecord, Quoted, Record
from convex_evals.records.generation import Usage
from convex_evals.records.names import Dollars, Natural, Positive, SessionId, Sha256

_TAG = re.compile(r"[\w][\w .:/+@#-]{0,59}")
MOST_TAGS = 100
Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]


class SessionStatus(StrEnum):
    """What people found of a session."""

    GOLDEN = "golden"
    CORRECT = "correct"
    INCORRECT = "incorrect"
    NEEDS_REVIEW = "needs_review"


STATUSES = {status.value: status for status in SessionStatus}


class Session(FileRecord):
    """`session.json`: what is known of an imported conversation besides its messages."""

    kind: Literal["session"] = "session"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    id: SessionId = Field(description="of the agent's name and its own id of the conversation")
    revision: Positive = Field(default=1, description="one more for each import that found the conversation changed")
    tool: str = Field(description="the agent, as `cli sessions import --from` names it")
    tool_version: Quoted = Field(default=None, description="as the agent recorded it")
    native_id: Quoted = Field(description="the agent's own id of the conversation")
    title: Quoted = Field(default=None, description="the agent's title, else the beginning of the first request")
    started_at: Time | None = Field(default=None, description="time of the first message, UTC")
    ended_at: Time | None = Field(default=None, description="time of the last message, UTC")
    folder: Quoted = Field(
        default=None, description="that the agent worked in: relative to this repository, or to the home folder (`~/`)"
    )
    git_branch: Quoted = Field(default=None, description="that was checked out")
    models: tuple[str, ...] = Field(default=(), description="that wrote replies, as the agent names them, in order")
    messages: Natural = Field(description="lines of messages.jsonl")
    exchanges: Natural = Field(description="requests of a person that were answered")
    messages_sha256: Sha256 = Field(description="of messages.jsonl")
    raw_sha256: Sha256 = Field(description="of raw.jsonl")
    source_sha256: Sha256 = Field(description="of the records as they were read, before secrets were removed")
    usage: Usage = Field(default=Usage(), description="tokens of all replies")
    cost_usd: Dollars | None = Field(default=None, description="dollars; null where neither is known")
    cost_estimated: bool = Field(default=False, description="whether the cost was computed from tokens and list prices")
    records: dict[str, Natural] = Field(
        description="how many of the agent's records became what: message, detail, other_branch, repeated, unknown, "
        "unreadable; the sum is what was read"
    )
    unknown: dict[str, Natural] = Field(default={}, description="records of unknown kinds, by kind")
    branches: Natural = Field(default=0, description="other paths, edited or repeated, that did not lead to the end")
    parent: SessionId | None = Field(default=None, description="session whose agent started this one")
    redacted: dict[str, Natural] = Field(default={}, description="secrets that were removed, by kind")
    secrets_kept: bool = Field(default=False, description="whether they were kept, at a person's request")


class Label(Record):
    """A file of `labels/`: what people say of a session. Keys are named as in exports and in the API."""

    evalReady: bool = Field(default=False, description="whether the session is one of the evals")
    evalStatus: SessionStatus = Field(
        default=SessionStatus.NEEDS_REVIEW,
        description="`golden`: perfect, suitable as ground truth; `correct`: acceptable, could be better in style or "
        "completeness; `incorrect`: wrong or harmful; `needs_review`",
    )
    evalTags: tuple[str, ...] = Field(default=(), description="sorted, each once")
    evalNotes: str = Field(default="", description="free text")
    expectedOutput: str | None = Field(default=None, description="what the last reply should have been")
    reviewedAt: Natural | None = Field(default=None, description="when the status was last set, ms since 1970")

    @field_validator("evalTags")
    @classmethod
    def _are_tags(cls, tags: tuple[str, ...]) -> tuple[str, ...]:
        for tag in tags:
            check_tag(tag)
        if len(tags) > MOST_TAGS:
            raise ValueError(f"more than {MOST_TAGS} tags")
        return tuple(sorted(set(tags)))


def check_tag(tag: str) -> None:
    """Raise `ValueError` where this is no tag."""
    if not _TAG.fullmatch(tag) or tag != tag.strip():
        raise ValueError(f"'{tag[:60]}' is not a tag: letters, digits, blanks and any of . : / + @ # -, 60 at most")
