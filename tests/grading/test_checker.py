"""Which checker process answers, and which one is stopped: no project is to feel another."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from convex_evals.errors import ProcessFault
from convex_evals.grading.checker import Checker
from convex_evals.process import Child


@dataclass
class Process:
    name: str
    stopped: bool = False

    async def stop(self) -> None:
        self.stopped = True


@dataclass
class Scripted(Checker):
    """A checker whose processes answer at once, but for `slow`."""

    processes: list[Process] = field(default_factory=list)

    async def _start(self, server: Any) -> Child:
        self.processes.append(Process(f"process {len(self.processes)}"))
        server.child = self.processes[-1]
        return cast(Child, server.child)

    async def _exchange(self, child: Any, line: str) -> dict[str, Any]:
        op = json.loads(line)["op"]
        await asyncio.sleep(0.5 if op == "slow" else 0)
        more = {"retire": True} if op == "broken" else {}
        return {"ok": True, "result": child.name, **more}


def scripted(patience: float = 0.05) -> Scripted:
    return Scripted(cast(Any, None), cast(Any, None), Path(), Path(), patience=patience)


async def ask(checker: Checker, op: str, timeout: float = 5) -> str:
    result: str = await checker.request(op, timeout=timeout)
    return result


def test_a_project_that_takes_long_keeps_no_other_waiting() -> None:
    async def scenario() -> None:
        async with scripted() as checker:
            assert await ask(checker, "quick") == "process 0"
            slow = asyncio.create_task(ask(checker, "slow"))
            await asyncio.sleep(0)
            assert [await ask(checker, "quick") for _ in range(3)] == ["process 1"] * 3
            assert not slow.done() and not checker.processes[1].stopped
            assert await slow == "process 0"
            assert checker.processes[1].stopped, "it is there only while the first is busy"
            assert await ask(checker, "quick") == "process 0"
        assert checker.processes[0].stopped and len(checker.processes) == 2

    asyncio.run(scenario())


def test_who_waits_shortly_gets_the_same_process() -> None:
    async def scenario() -> None:
        async with scripted(patience=5) as checker:
            assert await asyncio.gather(*(ask(checker, op) for op in ("slow", "quick", "quick"))) == ["process 0"] * 3

    asyncio.run(scenario())


def test_a_process_that_is_not_as_it_was_serves_no_other_project() -> None:
    async def scenario() -> None:
        async with scripted() as checker:
            assert await ask(checker, "broken") == "process 0"
            assert checker.processes[0].stopped
            assert await ask(checker, "quick") == "process 1"
            with pytest.raises(ProcessFault, match="not finished"):
                await ask(checker, "slow", timeout=0.01)
            assert await ask(checker, "quick") == "process 2"

    asyncio.run(scenario())
