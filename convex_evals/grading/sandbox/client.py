"""Our end of the launcher: asks it for networks and processes, and is told when these end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from convex_evals.errors import ProcessFault
from convex_evals.grading.sandbox.channel import make_channel, receive_message, send_message
from convex_evals.grading.sandbox.processors import processors
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.process import Child, Started, start_child

PACKAGE_ROOT = Path(__file__).parents[3]
_SOURCE = f"import sys; sys.path.insert(0, {str(PACKAGE_ROOT)!r}); from {__package__}.launcher import main; main()"
_ENDING_SECONDS = 5


@dataclass
class LauncherClient:
    """A launcher at work. Processes that it starts end with it, and it ends with us."""

    _process: subprocess.Popen[bytes]
    _channel: socket.socket
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _answers: dict[int, asyncio.Future[tuple[dict[str, Any], list[int]]]] = field(default_factory=dict)
    _running: dict[int, Started] = field(default_factory=dict)
    _early: dict[int, dict[str, Any]] = field(default_factory=dict)  # ended before their launch was known
    _gone: str | None = None  # why it does not work any more

    async def launch(self, request: LaunchRequest, pass_fds: Sequence[int] = (), *, capture: bool = False) -> Child:
        """Start a process: pipes to it as 0, 1, 2, and `pass_fds` as 3, 4, ... (as far as no filter stands there)."""

        async def start(*pipes: int) -> Started:
            placed = replace(request, processors=list(processors()))
            answer, _ = await self._ask({"op": "launch", **asdict(placed)}, [*pipes, *pass_fds])
            pid = answer["pid"]
            started = Started(pid, asyncio.get_running_loop().create_future(), lambda: self._kill(pid))
            self._running[pid] = started
            if pid in self._early:
                self._ended(self._early.pop(pid))
            return started

        return await start_child(start, capture=capture)

    @asynccontextmanager
    async def network(self) -> AsyncIterator[tuple[int, list[socket.socket]]]:
        """A network for a trial: its number, and sockets that listen in it."""
        number = next(self._ids)
        _, descriptors = await self._ask({"op": "network"}, [], number)
        try:
            with _sockets(descriptors) as sockets:
                yield number, sockets
        finally:
            self._tell({"op": "close", "network": number})

    @asynccontextmanager
    async def ports(self, servers: int) -> AsyncIterator[tuple[list[int], list[socket.socket]]]:
        """Of the network that the launcher is in: so many ports that are free, and sockets that listen."""
        answer, descriptors = await self._ask({"op": "ports", "servers": servers}, [])
        with _sockets(descriptors) as sockets:
            yield answer["servers"], sockets

    async def means(self) -> str | None:
        """What of the system's limits the memory of a launch as a whole; None: nothing, it is counted now and then."""
        answer, _ = await self._ask({"op": "means"}, [])
        found: str | None = answer["means"]
        return found

    async def _ask(
        self, message: dict[str, Any], descriptors: Sequence[int], number: int | None = None
    ) -> tuple[dict[str, Any], list[int]]:
        number = number or next(self._ids)
        self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            self._tell({**message, "id": number}, descriptors)
            answer, received = await self._answers[number]
        finally:
            del self._answers[number]
        if "error" in answer:
            raise ProcessFault(f"the sandbox cannot {message['op']}: {answer['error']}")
        return answer, received

    def _tell(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        try:
            if self._gone:
                raise BrokenPipeError
            send_message(self._channel, message, descriptors)
        except OSError:
            if not self._gone:
                self.receive()  # it may have said why
            self._lost()
            if "id" in message:
                raise ProcessFault(self._gone or "") from None

    def _kill(self, pid: int) -> None:
        if pid in self._running:
            self._tell({"op": "kill", "pid": pid})

    def receive(self) -> None:
        """Take in one message of the launcher's, which is there."""
        received = self._message()
        if received is None:
            self._lost()
            return
        message, descriptors = received
        if "failed" in message:
            self._lost(message["failed"])
            return
        if "exited" in message:
            if message["exited"] in self._running:
                self._ended(message)
            else:
                self._early[message["exited"]] = message
            return
        answer = self._answers.get(message["id"])
        if answer is None or answer.done():
            for descriptor in descriptors:
                os.close(descriptor)
            self._abandon(message)
        else:
            answer.set_result((message, descriptors))

    def _message(self) -> tuple[dict[str, Any], list[int]] | None:
        for _ in range(2):
            try:
                return receive_message(self._channel)
            except ConnectionResetError:
                continue  # it ended without having read all that we sent; what it sent is still to come
            except OSError:
                break
        return None

    def _abandon(self, message: dict[str, Any]) -> None:
        """Undo what was asked for by a task that is gone."""
        if "pid" in message:
            self._tell({"op": "kill", "pid": message["pid"]})

    def _ended(self, message: dict[str, Any]) -> None:
        running = self._running.pop(message["exited"])
        running.reason = message["reason"]
        if not running.ended.done():
            running.ended.set_result(message["status"])

    def _lost(self, reason: str = "the launcher of the sandbox has ended") -> None:
        if self._gone:
            return
        self._gone = reason
        asyncio.get_running_loop().remove_reader(self._channel.fileno())
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ProcessFault(reason))
        for running in self._running.values():
            if not running.ended.done():
                running.ended.set_result(-signal.SIGKILL)
        self._running.clear()

    def close(self) -> None:
        """End the launcher, and so all that it started."""
        self._lost()
        self._channel.close()
        try:
            self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextlib.contextmanager
def _sockets(descriptors: Sequence[int]) -> Iterator[list[socket.socket]]:
    sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    try:
        for opened in sockets:
            opened.setblocking(False)
        yield sockets
    finally:
        for opened in sockets:
            opened.close()


@asynccontextmanager
async def open_launcher(*, new_user: bool = False) -> AsyncIterator[LauncherClient]:
    """Start a launcher; with `new_user` it may make networks without being root, in a user namespace of its own."""
    ours, theirs = make_channel()
    with theirs:
        process = _start(theirs.fileno(), "new-user" if new_user else "own-user")
    async with at_work(process, ours) as client:
        yield client


@asynccontextmanager
async def at_work(process: subprocess.Popen[bytes], channel: socket.socket) -> AsyncIterator[LauncherClient]:
    """The launcher at the other end of `channel`; `process` ends when it does, and it ends with the context."""
    client = LauncherClient(process, channel)
    asyncio.get_running_loop().add_reader(channel.fileno(), client.receive)
    try:
        yield client
    finally:
        with contextlib.suppress(OSError):
            client.close()


def launcher_command(python: str, channel: str, user: str) -> list[str]:
    """What starts a launcher, with the standard library alone; `channel` and `user` as its `main` wants them."""
    return [python, "-I", "-S", "-c", _SOURCE, channel, user]


def libraries() -> dict[str, str]:
    """What the launcher needs of our environment: its children see all of its own."""
    return {k: os.environ[k] for k in ("LD_LIBRARY_PATH",) if k in os.environ}


def _start(descriptor: int, user: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        launcher_command(sys.executable, str(descriptor), user),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[descriptor],
        start_new_session=True,
        env=libraries(),
    )
