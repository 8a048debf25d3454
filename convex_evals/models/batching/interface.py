"""What the batch interfaces of providers have in common."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.records.batch import BatchFile, is_batch_id

T = TypeVar("T")
MIB = 1024 * 1024


@dataclass(frozen=True)
class BatchState:
    """How far a batch is."""

    done: int
    total: int
    ended: bool
    failure: str | None = None  # why the provider did not begin with it
    place: Any = None  # where the results are, or the results, as the interface knows them


@dataclass(frozen=True)
class BatchResult:
    """What the provider would have responded to one request, had it been sent alone.

    `body` is None where the batch ended before the request's turn came; `message` says why.
    """

    status: int
    body: dict[str, Any] | None
    message: str = ""


class Undecided(Exception):
    """It cannot be told yet whether the provider has a batch."""


class BatchInterface(Protocol):
    """One provider's way. All raise `ProviderFault`."""

    most_requests: int  # of one batch
    most_bytes: int  # of the requests' bodies

    async def submit(self, token: str, requests: Sequence[tuple[str, dict[str, Any]]]) -> str:
        """Submit requests, by what each is called by, and return the batch's id; `token` is our name of it.

        Raises `BatchGone` if the server has no such interface.
        """

    async def state(self, batch: str) -> BatchState:
        """Return how far a batch is. Raises `BatchGone`."""

    def results(self, state: BatchState) -> AsyncGenerator[tuple[str, BatchResult], None]:
        """Yield what came of the requests of a batch that ended, by what each was called by, in any order."""

    async def find(self, file: BatchFile) -> str | None:
        """Return the id of a batch that was perhaps submitted, None if the provider does not have it.

        Raises `Undecided` if that can only be told later.
        """


def batch_id(value: object) -> str:
    """Return a provider's id of a batch or of a file, which becomes part of an address. Raises `ProviderFault`."""
    if not isinstance(value, str) or not is_batch_id(value):
        raise ProviderFault(Fault.MALFORMED, f"an id that is none: {str(value)[:60]!r}")
    return value


def natural(value: object) -> int:
    """Return a count that a provider gives, 0 if it is none."""
    return value if type(value) is int and 0 <= value <= 10**9 else 0


async def understood(work: Awaitable[T]) -> T:
    """Return what an interface makes of responses. Raises `ProviderFault` for those that it cannot read."""
    try:
        return await work
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ProviderFault(Fault.MALFORMED, f"a response of another form ({type(error).__name__})") from None
