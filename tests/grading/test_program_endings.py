"""How a program ended is told to the grader in every case: real processes, at the levels that this machine offers."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import struct
from pathlib import Path
from typing import Any

import pytest

from convex_evals.errors import UserError
from convex_evals.grading.program_launch import ProgramEnvironment
from convex_evals.grading.programs import FrameKind, serve_programs
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.toolchain import locate_toolchain
from tests import patience

pytestmark = pytest.mark.grading

_HEAD = struct.Struct("!IBI")
_NO_FILES = bytes(1024)  # the end of an archive
_SECONDS = patience.seconds(20)
# Neither Python nor Node.js has names for most of them; the first two are the C library's own.
NAMELESS = (32, 33, signal.SIGRTMIN, signal.SIGRTMIN + 1, signal.SIGRTMAX - 1, signal.SIGRTMAX)


async def _ending(end: socket.socket, command: str, results: bool) -> dict[str, Any]:
    reader, writer = await asyncio.open_connection(sock=end)
    start = {"argv": ["/bin/sh", "-c", command], "cwd": "/", "env": ["PATH=/usr/bin:/bin"], "stdin": False}
    payload = json.dumps({**start, "ipc": False, "results": results, "timeout": None, "reached": None}).encode()
    for kind, data in ((FrameKind.START, payload), (FrameKind.FILES, _NO_FILES), (FrameKind.FILES, b"")):
        writer.write(_HEAD.pack(len(data), kind, 1) + data)
    try:
        while True:
            size, kind, _ = _HEAD.unpack(await reader.readexactly(_HEAD.size))
            data = await reader.readexactly(size)
            if kind == FrameKind.EXIT:
                return dict(json.loads(data))
    finally:
        writer.close()


async def _endings(level: Level, toolchain: Path, folder: Path, commands: list[str], results: bool) -> list[Any]:
    trial = folder / "trial"
    for name in ("project", "tester"):
        (trial / name).mkdir(parents=True)
    async with (
        open_sandbox(level, locate_toolchain(toolchain), folder) as sandbox,
        sandbox.network() as network,
    ):
        place = ProgramEnvironment(sandbox, trial / "project", trial / "tester", [], network, [])
        found = []
        for command in commands:
            async with serve_programs(place) as ends:
                ending = _ending(socket.socket(fileno=ends.pop()), command, results)
                found.append(await asyncio.wait_for(ending, _SECONDS))
        return found


@pytest.mark.parametrize("results", [False, True])
@pytest.mark.parametrize("level", [Level.NONE, Level.STRICT, Level.LANDLOCK])
def test_a_program_may_die_of_any_signal(level: Level, results: bool, toolchain: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    commands = [f"kill -{int(number)} $$" for number in (signal.SIGTERM, signal.SIGSEGV, *NAMELESS)]
    try:
        found = asyncio.run(_endings(level, toolchain, tmp_path, commands, results))
    except UserError as error:
        pytest.skip(str(error))
    assert found[:2] == [_ended(None, "SIGTERM"), _ended(None, "SIGSEGV")]
    assert found[2:] == [_ended(128 + number, None) for number in NAMELESS]


def _ended(code: int | None, by: str | None) -> dict[str, Any]:
    return {"code": code, "signal": by, "error": None, "timedOut": False}
