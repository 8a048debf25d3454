"""`keys/NAME.json`: a key of the export API, by its hash. The key itself is shown once, and written nowhere."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord
from convex_evals.records.names import ApiKeyName, Day, KeyScope, Sha256


class KeyState(StrEnum):
    """Whether a key opens anything."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class ApiKey(FileRecord):
    kind: Literal["api_key"] = "api_key"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    name: ApiKeyName = Field(description="name of the key, and of the file")
    key_sha256: Sha256 = Field(description="of the key; it is random enough that nobody finds it from that")
    scopes: tuple[KeyScope, ...] = Field(
        description="what it may do: `export`, all eval-ready sessions; `export:STATUS`, those of one status"
    )
    created: Day = Field(description="UTC day")
    expires: Day | None = Field(default=None, description="its last day, UTC; null: it does not expire")
    revoked: Day | None = Field(default=None, description="UTC day on which it was revoked; null: it was not")

    def state(self, today: str) -> KeyState:
        """On the UTC day `today`, YYYY-MM-DD."""
        if self.revoked is not None:
            return KeyState.REVOKED
        return KeyState.EXPIRED if self.expires is not None and today > self.expires else KeyState.ACTIVE
