"""A reply on its way from the provider to the record.

A request brings a `Reply`: the provider's client makes it, the reply's log keeps it while it arrives, and the solver
that sent the request turns it into a `TrialReply`, which is graded, journalled and written as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ConfigDict, with_config

from convex_evals.records.generation import Attempt, Generation, Usage
from convex_evals.records.hashes import sha256_text
from convex_evals.records.names import Dollars, Natural


@with_config(ConfigDict(extra="forbid", allow_inf_nan=False))
@dataclass(frozen=True)
class Reply:
    """What one request brought, from its first text to its end.

    Figures are the provider's until they are charged for, and checked only where they are read from a file: a figure
    that cannot be must not lose the reply.
    """

    text: str
    finish_reason: str | None  # as the provider said it
    usage: Usage
    searches: Natural
    cost_usd: Dollars | None  # the provider's own figure, where it can be
    first_token_ms: Natural | None
    duration_ms: Natural
    server: str | None = None  # that answered, as `https://HOST`; None where none was asked, or in a batch

    @classmethod
    def recorded(cls, text: str) -> Reply:
        """One that no provider was asked for."""
        return cls(text, "stop", Usage(), 0, None, None, 0)


@dataclass(frozen=True)
class LoggedReply:
    """What the log of one trial's reply holds."""

    attempts: tuple[Attempt, ...] = ()  # those that ended, in order
    reply: Reply | None = None  # of the last of them, where it brought one
    text: str = ""  # of the last request, as far as it came
    unfinished: int | None = None  # output tokens that the request without an end was sent with; None: all ended


@dataclass(frozen=True)
class TrialReply:
    """What came of asking for one trial: `generation` stands in generation.json, `response` in `<trial>.md`.

    `response` is None where nothing was received.
    """

    generation: Generation
    response: str | None

    @classmethod
    def received(
        cls,
        reply: Reply,
        *,
        trial: int,
        generation_id: str,
        attempts: Sequence[Attempt] = (),
        cost_usd: float = 0.0,
        cost_estimated: bool = False,
        fault: str | None = None,
        reason: str | None = None,
        elsewhere: bool = False,
    ) -> TrialReply:
        """The record of `reply`. `cost_usd` is of all attempts; a `fault` makes the reply itself the failure.

        `elsewhere` says that the server which answered is no provider's own.
        """
        generation = Generation(
            trial=trial,
            generation_id=generation_id,
            received=True,
            response_sha256=sha256_text(reply.text),
            finish_reason=reply.finish_reason,
            fault=fault,
            reason=reason,
            attempts=tuple(attempts),
            cost_usd=cost_usd,
            cost_estimated=cost_estimated,
            duration_ms=reply.duration_ms,
            first_token_ms=reply.first_token_ms,
            usage=reply.usage,
            searches=reply.searches,
            server=reply.server,
            elsewhere=elsewhere,
        )
        return cls(generation, reply.text)

    @classmethod
    def missing(
        cls,
        *,
        trial: int,
        generation_id: str,
        fault: str,
        reason: str,
        attempts: Sequence[Attempt] = (),
        cost_usd: float = 0.0,
        cost_estimated: bool = False,
    ) -> TrialReply:
        """The record of having received nothing, and why."""
        generation = Generation(
            trial=trial,
            generation_id=generation_id,
            received=False,
            response_sha256=None,
            fault=fault,
            reason=reason,
            attempts=tuple(attempts),
            cost_usd=cost_usd,
            cost_estimated=cost_estimated,
        )
        return cls(generation, None)
