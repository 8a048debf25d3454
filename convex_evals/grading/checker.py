"""The checker: a trusted Node process that bundles, type-checks and lints projects. It never runs their code."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from convex_evals.clock import step_timeout
from convex_evals.errors import ProcessFault
from convex_evals.grading.sandbox.base import Launch, Sandbox
from convex_evals.grading.sandbox.processors import running_on
from convex_evals.grading.toolchain import Toolchain
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.process import Child

_MAX_OLD_SPACE_MIB = 2048
# What it keeps of libraries makes it fast, and grows with every new version of a library that it meets.
_RECYCLED_AT_MIB = 1024
_ENDING_SECONDS = 1.0

# What it says of a project grows with the project.
_ANSWER = Limits(8 * 1024 * 1024)


class CheckerError(Exception):
    """The request was understood and the project is at fault; the message is for its author."""


@dataclass
class _Server:
    """One checker process, or the place of one that is started at its next request."""

    child: Child | None = None
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def stop(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            await asyncio.shield(child.stop())


@dataclass
class Checker:
    """A checker process, started at the first request and again after it died, took too long, or asks for it.

    It answers one request at a time, in the order in which they come. One that has to wait longer than `patience`
    seconds, since a project takes long to check, gets a second process, which ends when the first is free again. It
    executes nothing of a project, but it opens what the project names: it sees `readable` and the project's
    surroundings, and nothing else.
    """

    toolchain: Toolchain
    sandbox: Sandbox
    scratch: Path
    folder: Path  # with all projects and all that is made of them
    readable: Sequence[Path] = ()
    processors: tuple[int, ...] = ()  # that it runs on; none: any
    patience: float = 4
    _servers: tuple[_Server, _Server] = field(default_factory=lambda: (_Server(), _Server()))
    _next_id: int = 1
    _closed: bool = False

    async def request(self, op: str, *, timeout: float, **parameters: Any) -> Any:
        """The result of one operation.

        Raises `CheckerError` where the project is at fault, `ProcessFault` where the checker died or took
        longer than `timeout` seconds.
        """
        async with self._turn() as server:
            answer = await self._answer(server, op, timeout, parameters)
        if answer.get("ok"):
            return answer["result"]
        error = answer["error"]
        if error["kind"] == "deploy":
            raise CheckerError(error["message"])
        raise ProcessFault(f"{op}: {error['message']}")

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[_Server]:
        """A process that is free; the second one is there only while the first is busy for long."""
        first, second = self._servers
        server = await self._free()
        try:
            yield server
        finally:
            server.busy.release()
            if not first.busy.locked() and not second.busy.locked():
                await second.stop()

    async def _free(self) -> _Server:
        first, second = self._servers
        if first.busy.locked() and second.child is not None and not second.busy.locked():
            await second.busy.acquire()
            return second
        try:
            async with asyncio.timeout(self.patience):
                await first.busy.acquire()
            return first
        except TimeoutError:
            await second.busy.acquire()
            return second

    async def _answer(self, server: _Server, op: str, timeout: float, parameters: dict[str, Any]) -> dict[str, Any]:
        if self._closed:
            raise ProcessFault(f"{op}: grading has ended")
        child = server.child or await self._start(server)
        self._next_id += 1
        line = json.dumps({"id": self._next_id, "op": op, **parameters}, default=str) + "\n"
        try:
            async with step_timeout(timeout):
                answer = await self._exchange(child, line)
        except TimeoutError:
            await server.stop()
            raise ProcessFault(f"{op}: not finished within {timeout:.0f} s") from None
        except BaseException:
            await server.stop()
            raise
        if answer.get("retire") or answer.get("resident_bytes", 0) > _RECYCLED_AT_MIB * 2**20:
            await server.stop()
        return answer

    async def _exchange(self, child: Child, line: str) -> dict[str, Any]:
        assert child.stdout is not None
        try:
            child.stdin.write(line.encode())
            await child.stdin.drain()
            reply = await child.stdout.readline()
        except (BrokenPipeError, ConnectionResetError, ValueError):  # ValueError: a line that is too long
            reply = b""
        if not reply:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), _ENDING_SECONDS)  # then it is known what for
            raise ProcessFault(f"the checker process {child.reason or f'ended: {child.last_words()}'}")
        try:
            return decode_object(reply, _ANSWER)
        except ValueError as error:
            raise ProcessFault(f"the checker process's answer cannot be read: {error}") from None

    async def _start(self, server: _Server) -> Child:
        node = self.toolchain.node
        argv: list[str | Path] = [
            node.executable,
            *json.loads(self.toolchain.script("checker/flags.json").read_text(encoding="utf-8")),
            f"--max-old-space-size={_MAX_OLD_SPACE_MIB}",
            self.toolchain.script("checker/main.ts"),
        ]
        # esbuild, a process of Go, makes a new heap for each bundle: it need not be tidy.
        env = {**node.environment(self.scratch), "GOGC": "400"}
        with running_on(self.processors):
            server.child = await self.sandbox.launch(
                Launch(argv, self.scratch, env, readable=self.readable, shared=[self.folder], capture=True)
            )
        return server.child

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        for server in self._servers:
            await server.stop()
