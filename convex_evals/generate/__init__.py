"""Who answers: models, and what stands in for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from convex_evals.records import Generation
from convex_evals.suite import Eval


@dataclass(frozen=True)
class Reply:
    """What came back for one trial; `response` is None where nothing was received."""

    generation: Generation
    response: str | None


class Answerer(Protocol):
    """Answers evals."""

    @property
    def model(self) -> str:
        """The true slug, `provider/name`."""

    @property
    def synthetic(self) -> bool:
        """True where no model is asked."""

    def parameters(self, ev: Eval) -> dict[str, str]:
        """What, besides the prompt, a reply depends on: part of the generation key."""

    async def respond(self, ev: Eval, trial: int, generation_key: str) -> Reply: ...
