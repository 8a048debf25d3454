"""`pruned.json`: the raw replies of a run were dropped on request. Its other files are as they were."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord
from convex_evals.records.names import Day, Natural


class Pruned(FileRecord):
    """Marks a run whose `<trial>.md` were dropped; it can no longer be graded again, replayed or reused."""

    kind: Literal["pruned"] = "pruned"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    date: Day = Field(description="UTC day on which it was done")
    responses: Natural = Field(description="files that were dropped")
    bytes: Natural = Field(description="their size")
