"""The journal's entry for one trial: what is received and not yet written to `runs/`. Disposable once it is."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from convex_evals.records.base import FileRecord
from convex_evals.records.generation import MISSING, Generation
from convex_evals.records.grade import Verdict
from convex_evals.records.names import Natural, Sha256
from convex_evals.records.outcome import Outcome
from convex_evals.records.reply import TrialReply

MAX_COMMANDS = 3  # that ask for one reply, or grade it, before the trial is left without a verdict


class JournalEntry(FileRecord):
    kind: Literal["journal"] = "journal"
    schema_: Literal[1] = Field(default=1, alias="schema", description="version of this format")
    generation_key: Sha256 | None = Field(
        default=None, description="what was asked; null where a reply of another run is graded again"
    )
    generation: Generation = Field(description="as it will stand in generation.json")
    response: str | None = Field(description="as it will stand in `<trial>.md`")
    verdict: Verdict | None = Field(default=None, description="as it will stand in the grade file")
    commands: Natural = Field(default=0, alias="attempts", description="commands that asked or graded, and finished")

    @property
    def reply(self) -> TrialReply:
        return TrialReply(self.generation, self.response)

    @property
    def done(self) -> bool:
        """Scored, or asking and grading again would change nothing."""
        if self.verdict is None:
            return False
        given_up = self.commands >= MAX_COMMANDS or self.generation.fault == MISSING
        return given_up or self.verdict.outcome is not Outcome.UNSCORED
