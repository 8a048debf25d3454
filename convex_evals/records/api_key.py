"""`keys/NAME.json`: a key of the export API, by its hash. The key itself is shown once, and written nowhere."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from convex_evals.records.base import FileRecord
from convex_evals.records.names import ApiKeyName, Day, Sha256
from convex_evals.records.session import SessionStatus

EXPORT = "export"
SCOPES = (EXPORT, *(f"{EXPORT}:{status.value}" for status in SessionStatus))


def _known(scope: str) -> str:
    if scope not in SCOPES:
        raise ValueError(f"'{scope[:60]}' is no scope: {', '.join(SCOPES)}")
    return scope


KeyScope = Annotated[str, AfterValidator(_known)]


class KeyState(StrEnum):
    """Whether a key opens anything."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class ApiKey(FileRecord):
    kind: Literal["api_key"] = "api_key"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    name: ApiKeyName = Field(description="name of the key, and of the file")
    key_sha256: Sha256 = Field(description="of the key, which cannot be recovered from it")
    scopes: tuple[KeyScope, ...] = Field(
        description="what it may do: `export`, all eval-ready sessions; `export:STATUS`, those of one status"
    )
    created: Day = Field(description="UTC day")
    expires: Day | None = Field(default=None, description="its last day, UTC; null: it does not expire")
    revoked: Day | None = Field(default=None, description="UTC day on which it was revoked; null: it was not")

    def allows(self, status: SessionStatus | None) -> bool:
        """Whether a scope covers an export of all sessions, or of those of one status."""
        return EXPORT in self.scopes or (status is not None and f"{EXPORT}:{status.value}" in self.scopes)

    def state(self, today: str) -> KeyState:
        """Return what the key is on the UTC day `today`, YYYY-MM-DD."""
        if self.revoked is not None:
            return KeyState.REVOKED
        return KeyState.EXPIRED if self.expires is not None and today > self.expires else KeyState.ACTIVE
