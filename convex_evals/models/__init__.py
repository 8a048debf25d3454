"""Solvers: models, and what stands in for them; and how a model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from convex_evals.records import Attempt
from convex_evals.records.reply import LoggedReply, Reply, TrialReply
from convex_evals.store.batches import BatchFolder, Ticket
from convex_evals.suite.prompt import Prompt


class Item(Protocol):
    """What a model is asked about: an eval of a suite, or a session."""

    @property
    def id(self) -> str:
        """`category/name`."""

    @property
    def task(self) -> str:
        """What is asked, which a reply depends on. Raises `UserError` where it cannot be read."""

    def expected_files(self) -> Mapping[str, str]:
        """What is expected, as files by their paths. Raises `UserError`."""

    def reference_reply(self) -> str:
        """The reply that is known to be good, or that others are compared with. Raises `UserError` without one."""


@dataclass(frozen=True)
class Ask:
    """One trial that wants a reply."""

    ev: Item
    trial: int
    generation_key: str
    prompt: Prompt
    batches: BatchFolder | None = None  # of the run; None: requests are sent one by one
    left: LeftBehind | None = None  # what an earlier command submitted for this trial


@dataclass(frozen=True)
class LeftBehind:
    """A request in a batch that goes on, or went on while no command ran."""

    folder: BatchFolder
    ticket: Ticket
    is_counted: bool  # in what is spent of the budget


class ReplyLog(Protocol):
    """Where a reply is kept while it arrives, so that whatever ends us loses no reply whose end arrived."""

    def read(self) -> LoggedReply:
        """What an interrupted process left."""

    def begin(self, max_output_tokens: int) -> None:
        """A request with this limit is about to be sent."""

    def text(self, piece: str) -> None:
        """What arrived of the reply, since the last piece."""

    def end(self, attempt: Attempt, reply: Reply | None) -> None:
        """The attempt is over; `reply` is None where it brought none."""


class Solver(Protocol):
    """Replies to the tasks of evals: a model, or what stands in for one."""

    @property
    def model(self) -> str:
        """The true slug, `provider/name`."""

    @property
    def synthetic(self) -> bool:
        """True where no model is asked."""

    def inputs(self, ev: Item, prompt: Prompt) -> Mapping[str, Any]:
        """All that a reply depends on, besides task and trial: part of the generation key."""

    def stop(self) -> None:
        """Send nothing more; what is under way goes on to its end."""

    async def respond(self, ask: Ask, log: ReplyLog) -> TrialReply:
        """Raises `ModelStopped` where asking this model again makes no sense, and `ReplyPending` where it goes on."""
