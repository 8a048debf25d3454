"""Who answers: models, and what stands in for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from convex_evals.records import Attempt, Generation
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval


@dataclass(frozen=True)
class Ask:
    """One trial to be answered."""

    ev: Eval
    trial: int
    generation_key: str
    prompt: Prompt


@dataclass(frozen=True)
class Reply:
    """What came back for one trial; `response` is None where nothing was received."""

    generation: Generation
    response: str | None


class ReplyLog(Protocol):
    """Where a reply is kept while it arrives, so that whatever ends us loses no reply whose end arrived."""

    def lines(self) -> list[dict[str, Any]]:
        """What an interrupted process left, in order; see `read_earlier`."""

    def begin(self, attempt: Mapping[str, Any]) -> None:
        """A request is about to be sent; `attempt` is what is known of it."""

    def text(self, piece: str) -> None: ...

    def end(self, attempt: Attempt, reply: Mapping[str, Any] | None) -> None:
        """The attempt is over; `reply` is what else is known of its reply, None where it brought none."""


class Answerer(Protocol):
    """Answers evals."""

    @property
    def model(self) -> str:
        """The true slug, `provider/name`."""

    @property
    def synthetic(self) -> bool:
        """True where no model is asked."""

    def inputs(self, ev: Eval, prompt: Prompt) -> Mapping[str, Any]:
        """All that a reply depends on, besides task and trial: part of the generation key."""

    def stop(self) -> None:
        """Send nothing more; what is under way goes on to its end."""

    async def respond(self, ask: Ask, log: ReplyLog) -> Reply:
        """Raises `ModelStopped` where asking this model again makes no sense."""
