"""What the launcher starts: where, and what is left of it when a command or the launcher dies."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from convex_evals.errors import ProcessFault
from convex_evals.grading.sandbox.base import Launch, Level
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.sandbox.processors import running_on, shares
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.grading.toolchain import Toolchain
from tests import patience
from tests.conftest import ROOT
from tests.processes import processes_with

PARENT = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.sandbox.request import LaunchRequest

async def main():
    async with open_launcher() as launcher:
        child = await launcher.launch(LaunchRequest(["/bin/sh", "-c", "sleep 600 & sleep 600"], {{}}, "/"))
        print(child.pid, flush=True)
        await child.wait()

asyncio.run(main())
"""


def test_nothing_outlives_a_killed_command() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            group = int(parent.stdout.readline())
            assert becomes(group, there=True), "the child was never in a group of its own"
        finally:
            parent.kill()
    assert becomes(group, there=False), "processes of a killed command go on"


def test_a_stopped_sandbox_leaves_nobody(tools: Toolchain, tmp_path: Path) -> None:
    """Of processes that take no notice of anything, in process groups of their own."""
    if not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    tmp_path.chmod(0o755)
    (work := tmp_path / "work").mkdir(mode=0o777)
    program = "trap '' TERM HUP INT; setsid sleep 600 & setsid sleep 600 & echo; sleep 600"
    launch = Launch(["/bin/sh", "-c", program], work, {"MARK": str(work)}, writable=[work], capture=True)

    async def stop() -> None:
        async with open_sandbox(Level.STRICT, tools, tmp_path) as sandbox:
            child = await sandbox.launch(launch)
            assert child.stdout
            await child.stdout.readline()
            assert len(processes_with(str(work))) >= 3
            await child.stop()
            for _ in range(250):
                if not processes_with(str(work)):
                    break
                await asyncio.sleep(0.02)

    asyncio.run(stop())
    assert processes_with(str(work)) == []


def becomes(group: int, *, there: bool) -> bool:
    """Whether a process group is there, or is not, within five seconds."""
    deadline = time.monotonic() + patience.seconds(5)
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
            found = True
        except ProcessLookupError:
            found = False
        if found is there:
            return True
        time.sleep(0.02)
    return False


def test_the_launcher_holds_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-that-nobody-may-see")

    async def environments() -> list[bytes]:
        async with open_launcher() as launcher:
            child = await launcher.launch(LaunchRequest(["/bin/sleep", "600"], {"OWN": "1"}, "/"))
            parent = int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[1])
            found = [Path(f"/proc/{pid}/environ").read_bytes() for pid in (child.pid, parent)]
            await child.stop()
            return found

    for found in asyncio.run(environments()):
        assert b"a-secret" not in found


def test_workers_keep_to_processors_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 2, 3, 5, 6})
    assert shares(1) == [()]
    assert shares(2) == [(0, 2), (3, 5)]
    assert shares(7) == [(0,), (2,), (3,), (5,), (6,), (0,), (2,)]


def test_what_is_launched_runs_where_it_is_told_to() -> None:
    mine = min(os.sched_getaffinity(0))
    look = LaunchRequest(["/bin/grep", "Cpus_allowed_list:", "/proc/self/status"], {}, "/")

    async def where(processors: tuple[int, ...]) -> str:
        async with open_launcher() as launcher:
            with running_on(processors):
                child = await launcher.launch(look, capture=True)
            async with child:
                assert child.stdout
                return (await child.stdout.read()).decode().split()[1]

    assert asyncio.run(where((mine,))) == str(mine)
    ours = Path("/proc/self/status").read_text().partition("Cpus_allowed_list:")[2].split()[0]
    assert asyncio.run(where(())) == ours


def test_a_program_that_is_not_there_is_a_fault_of_the_launch(tools: Toolchain, tmp_path: Path) -> None:
    async def start() -> str:
        async with open_sandbox(Level.NONE, tools, tmp_path) as sandbox:
            child = await sandbox.launch(Launch(["/no/such/program"], tmp_path, {}))
            await child.wait()
            await asyncio.sleep(0.1)
            words = child.last_words()
            await child.stop()
            return words

    assert "cannot start /no/such/program" in asyncio.run(start())


def test_a_launcher_that_died_is_a_fault_and_no_hang() -> None:
    async def use() -> None:
        async with open_launcher() as launcher:
            child = await launcher.launch(LaunchRequest(["/bin/sleep", "600"], {}, "/"))
            os.kill(int(Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[1]), signal.SIGKILL)
            assert await asyncio.wait_for(child.wait(), 5) == -signal.SIGKILL
            with pytest.raises(ProcessFault, match="launcher"):
                await launcher.launch(LaunchRequest(["/bin/true"], {}, "/"))
            await child.stop()

    asyncio.run(use())
