"""The parts of a run's work, which different machines may do."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """What a command is limited to."""

    ASK = "ask"  # with keys; nothing that a model wrote is executed, and nothing is written to `runs/` but the plan
    GRADE = "grade"  # replies of the journal; no model is asked, so no keys are needed
    CONCLUDE = "conclude"  # from verdicts that are here; no keys, and nothing is executed

    @property
    def asks(self) -> bool:
        return self is Stage.ASK

    @property
    def executes(self) -> bool:
        return self is Stage.GRADE
