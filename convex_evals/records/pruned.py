"""`pruned.json`: the raw replies of a run were dropped on request. Its other files are as they were."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord


class Pruned(FileRecord):
    """Marks a run whose `<trial>.md` were dropped; it can no longer be graded again, replayed or reused."""

    kind: Literal["pruned"] = "pruned"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    date: str = Field(description="UTC day on which it was done")
    responses: int = Field(ge=0, description="files that were dropped")
    bytes: int = Field(ge=0, description="their size")
