"""The reference answer on a backend of its own, for graders that compare with it.

Many graders never ask it anything: it is started at the first connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import InfrastructureError, ProcessFault
from convex_evals.grading.backends import Backend
from convex_evals.grading.backends.push import push
from convex_evals.grading.prepared import blaming_the_suite
from convex_evals.grading.sandbox.base import Network
from convex_evals.suite.suite import Eval


@dataclass
class AnswerOnDemand:
    """A port where the answer is served from the first connection on."""

    port: int
    fault: InfrastructureError | None = None  # why it is not


@asynccontextmanager
async def answer_on_demand(
    ev: Eval, bundle: Path, backend: Backend, scratch: Path, network: Network
) -> AsyncIterator[AnswerOnDemand]:
    """Serve the answer of `ev` on the hidden port of `network`; start and deploy it at the first connection."""
    answer = AnswerOnDemand(network.hidden_port)
    sockets = network.listening
    serving = asyncio.create_task(_serve(answer, ev, bundle, backend, scratch, sockets))
    try:
        yield answer
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        _close(sockets)


async def _serve(
    answer: AnswerOnDemand,
    ev: Eval,
    bundle: Path,
    backend: Backend,
    scratch: Path,
    sockets: Sequence[socket.socket],
) -> None:
    await _first_connection(sockets)
    try:
        with blaming_the_suite(ev):
            async with backend.start(scratch, listening=[s.fileno() for s in sockets]) as endpoints:
                await push(endpoints, bundle, timeout=ev.config.timeouts.deploy)
                # From here on they are the backend's alone: clients notice when it dies.
                _close(sockets)
                await asyncio.Event().wait()
    except InfrastructureError as fault:
        answer.fault = fault
    except Exception as error:
        answer.fault = ProcessFault(f"the answer: {type(error).__name__}: {error}")
    finally:
        # Clients that wait to be served see their connections closed.
        _close(sockets)


def _close(sockets: Sequence[socket.socket]) -> None:
    for opened in sockets:
        opened.close()


async def _first_connection(sockets: Sequence[socket.socket]) -> None:
    """Wait until a client connects, and leave it waiting."""
    loop = asyncio.get_running_loop()
    connected = asyncio.Event()
    for opened in sockets:
        loop.add_reader(opened, connected.set)
    try:
        await connected.wait()
    finally:
        for opened in sockets:
            loop.remove_reader(opened)
