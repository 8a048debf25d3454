"""`batches/<token>.json` of a run: requests that a provider answers together, within a day and at half the price.

The file is there before the batch is, and names it once the provider did: whatever ends a command, the next one finds
the batch, on any machine that has the run's folder.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from convex_evals.records.base import FileRecord, Record
from convex_evals.records.generation import Attempt
from convex_evals.records.names import EvalId, Identity, Moment, Positive, Sha256, Slug, TrialNumber

# It becomes a part of an address.
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]|/(?=[A-Za-z0-9])){0,198}")


def is_batch_id(text: str) -> bool:
    """Whether `text` may be a provider's id of a batch or of a file: letters, digits, `_`, `-`, `.`, and `/` inside."""
    return _ID.fullmatch(text) is not None and ".." not in text


def _batch_id(text: str) -> str:
    if not is_batch_id(text):
        raise ValueError(f"'{text[:60]}' is no id of a batch")
    return text


class BatchedRequest(Record):
    """One request of a batch, for one trial."""

    eval: EvalId = Field(description="eval id, `category/name`")
    trial: TrialNumber = Field(description="number of the trial, from 1")
    generation_key: Sha256 = Field(description="as in run.json")
    max_output_tokens: Positive = Field(description="the limit that was sent")
    attempts: tuple[Attempt, ...] = Field(default=(), description="requests made for this trial before, in order")


class BatchFile(FileRecord):
    kind: Literal["batch"] = "batch"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    token: Identity = Field(description="our name of the batch, which the provider is told; the file's name")
    model: Slug = Field(description="`provider/name`")
    submitted_at: Moment = Field(description="UTC, when it was about to be submitted")
    batch: Annotated[str, AfterValidator(_batch_id)] | None = Field(
        default=None, description="the provider's id; null while it is not known whether the provider has the batch"
    )
    requests: tuple[BatchedRequest, ...] = Field(description="in the order in which they were sent")

    def custom_id(self, number: int) -> str:
        """Return what the provider calls a request by its number, counted from 0."""
        return f"{self.token}-{number}"

    def age_s(self) -> float:
        """Return the seconds since it was submitted."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.submitted_at)).total_seconds()
