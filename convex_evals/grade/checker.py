"""The checker: a trusted Node process that bundles, type-checks and lints projects. It never runs their code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from convex_evals.errors import ProcessFault
from convex_evals.grade.sandbox.base import Launch, Sandbox
from convex_evals.grade.sandbox.processors import running_on
from convex_evals.grade.toolchain import Toolchain
from convex_evals.process import Child

_MAX_OLD_SPACE_MIB = 2048
# What it keeps of libraries makes it fast, and grows with every new version of a library that it meets.
_RECYCLED_AT_MIB = 1024


class CheckerError(Exception):
    """The request was understood and the project is at fault; the message is for its author."""


@dataclass
class Checker:
    """One checker process, started at the first request and again after it died or took too long.

    Requests are answered one at a time, in the order in which they come. It executes nothing of a project, but it
    opens what the project names: it sees `readable` and the project's surroundings, and nothing else.
    """

    toolchain: Toolchain
    sandbox: Sandbox
    scratch: Path
    folder: Path  # with all projects and all that is made of them
    readable: Sequence[Path] = ()
    processors: tuple[int, ...] = ()  # that it runs on; none: any
    _child: Child | None = None
    _next_id: int = 1
    _closed: bool = False
    _busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def request(self, op: str, *, timeout: float, **parameters: Any) -> Any:
        """The result of one operation.

        Raises `CheckerError` where the project is at fault, `ProcessFault` where the checker died or took
        longer than `timeout` seconds.
        """
        async with self._busy:
            if self._closed:
                raise ProcessFault(f"{op}: grading has ended")
            child = self._child or await self._start()
            self._next_id += 1
            line = json.dumps({"id": self._next_id, "op": op, **parameters}, default=str) + "\n"
            try:
                answer = await asyncio.wait_for(self._exchange(child, line), timeout)
            except TimeoutError:
                await self._stop()
                raise ProcessFault(f"{op}: not finished within {timeout:.0f} s") from None
            except BaseException:
                await self._stop()
                raise
            if answer.get("resident_bytes", 0) > _RECYCLED_AT_MIB * 2**20:
                await self._stop()
        if answer.get("ok"):
            return answer["result"]
        error = answer["error"]
        if error["kind"] == "deploy":
            raise CheckerError(error["message"])
        raise ProcessFault(f"{op}: {error['message']}")

    async def _exchange(self, child: Child, line: str) -> dict[str, Any]:
        assert child.stdout is not None
        try:
            child.stdin.write(line.encode())
            await child.stdin.drain()
            reply = await child.stdout.readline()
        except (BrokenPipeError, ConnectionResetError, ValueError):  # ValueError: a line that is too long
            reply = b""
        if not reply:
            tail = child.stderr.text().strip().splitlines()
            raise ProcessFault(f"the checker process ended: {tail[-1] if tail else 'no message'}")
        try:
            answer: dict[str, Any] = json.loads(reply)
        except (ValueError, RecursionError):
            raise ProcessFault("the checker process answered something else than JSON") from None
        return answer

    async def _start(self) -> Child:
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
            self._child = await self.sandbox.launch(
                Launch(argv, self.scratch, env, readable=self.readable, shared=[self.folder], capture=True)
            )
        return self._child

    async def _stop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await asyncio.shield(child.stop())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closed = True
        await self._stop()
