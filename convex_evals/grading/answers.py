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
from convex_evals.grading.sandbox.base import HiddenPort, Network
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
    answer = AnswerOnDemand(network.answer.number)
    serving = asyncio.create_task(_serve(answer, ev, bundle, backend, scratch, network.answer))
    try:
        yield answer
    finally:
        serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await serving
        network.answer.close()


async def _serve(
    answer: AnswerOnDemand,
    ev: Eval,
    bundle: Path,
    backend: Backend,
    scratch: Path,
    hidden: HiddenPort,
) -> None:
    await _first_connection(hidden.sockets)
    try:
        with blaming_the_suite(ev):
            async with backend.start(scratch, listening=hidden.descriptors) as endpoints:
                await push(endpoints, bundle, timeout=ev.config.timeouts.deploy)
                hidden.close()
                await asyncio.Event().wait()
    except InfrastructureError as fault:
        answer.fault = fault
    except Exception as error:
        answer.fault = ProcessFault(f"the answer: {type(error).__name__}: {error}")
    finally:
        hidden.close()  # clients that wait to be served see their connections closed


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
