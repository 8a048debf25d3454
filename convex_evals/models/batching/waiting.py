"""Requests that wait for their reply from a batch."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.models.batching.interface import BatchInterface
from convex_evals.models.faults import ModelStopped, ProviderFault, ReplyPending
from convex_evals.models.provider import Call
from convex_evals.records.batch import BatchedRequest
from convex_evals.records.reply import Reply
from convex_evals.store.batches import BatchFolder


@dataclass(frozen=True)
class Batched:
    """A reply, and the batch that brought it."""

    reply: Reply
    token: str


@dataclass
class Waiter:
    """A request, and who waits for its reply."""

    folder: BatchFolder
    request: BatchedRequest
    call: Call
    reply: asyncio.Future[Batched]

    @classmethod
    def made(cls, folder: BatchFolder, request: BatchedRequest, call: Call) -> Waiter:
        """Make one for the running event loop."""
        return cls(folder, request, call, asyncio.get_running_loop().create_future())

    def fail(self, error: BaseException) -> None:
        """Raise `error` where the reply is awaited, if it is not there yet."""
        if not self.reply.done():
            self.reply.set_exception(_copy(error))

    def bring(self, reply: Reply, token: str) -> None:
        """Hand over the reply, if it is still awaited."""
        if not self.reply.done():
            self.reply.set_result(Batched(reply, token))


Row = tuple[Waiter, dict[str, Any]]  # with the body that is sent


class NeverSubmitted(Exception):
    """The command that wrote a batch's file was ended before it submitted the batch."""


def fail_all(waiters: Iterable[Waiter], error: BaseException) -> None:
    """Raise `error` wherever a reply is still awaited."""
    for each in waiters:
        each.fail(error)


def split(rows: Sequence[Row], interface: BatchInterface) -> list[list[Row]]:
    """Divide requests into as few batches as the interface allows."""
    parts: list[list[Row]] = []
    size = 0
    for row in rows:
        own = len(json.dumps(row[1]))
        if not parts or len(parts[-1]) == interface.most_requests or size + own > interface.most_bytes:
            parts.append([])
            size = 0
        parts[-1].append(row)
        size += own
    return parts


def _copy(error: BaseException) -> BaseException:
    """Give each who waits an exception of its own: tracebacks grow with each raise."""
    if isinstance(error, ProviderFault):
        return ProviderFault(error.fault, str(error), error.retry_after, error.batch)
    if isinstance(error, ModelStopped | ReplyPending | NeverSubmitted):
        return type(error)(*error.args)
    return error
