from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from convex_evals.process import OUTPUT_LIMIT, read_fd, run, spawn
from tests.conftest import ROOT

ENV = {"PATH": os.environ["PATH"]}
FAMILY = """
import asyncio, os, sys
from pathlib import Path
from convex_evals.process import spawn
async def main():
    folder = Path(sys.argv[1])
    child = await spawn(["sh", "-c", "sleep 300 & echo $! $$ > pids; wait"], cwd=folder, env=dict(os.environ))
    (folder / "spawned").touch()
    await child.wait()
asyncio.run(main())
"""


def test_output_and_status(tmp_path: Path) -> None:
    done = asyncio.run(run(["sh", "-c", "echo out; echo err >&2; exit 3"], cwd=tmp_path, env=ENV, timeout=10))
    assert (done.status, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_the_environment_is_exactly_what_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED", "secret")
    done = asyncio.run(
        run([sys.executable, "-c", "import os; print(sorted(os.environ))"], cwd=tmp_path, env=ENV, timeout=10)
    )
    assert "PLANTED" not in done.stdout and "HOME" not in done.stdout


def test_a_time_limit_ends_the_whole_group(tmp_path: Path) -> None:
    start = time.monotonic()
    done = asyncio.run(run(["sh", "-c", "sleep 300 & echo $!; wait"], cwd=tmp_path, env=ENV, timeout=0.5))
    assert done.status is None and time.monotonic() - start < 5
    assert gone(int(done.stdout), 2)


def test_a_hopeless_command_is_ended(tmp_path: Path) -> None:
    start = time.monotonic()
    script, hopeless = "echo all is lost >&2; sleep 300", lambda text: "lost" in text
    done = asyncio.run(run(["sh", "-c", script], cwd=tmp_path, env=ENV, timeout=60, hopeless=hopeless))
    assert (done.status, done.stderr) == (None, "all is lost\n") and time.monotonic() - start < 10


def test_a_grandchild_outside_the_group_delays_nothing(tmp_path: Path) -> None:
    """A grandchild in a session of its own keeps the pipes open for as long as it likes."""
    start = time.monotonic()
    script = "setsid sleep 20 & echo done"
    done = asyncio.run(run(["sh", "-c", script], cwd=tmp_path, env=ENV, timeout=10))
    assert (done.status, done.stdout) == (0, "done\n") and time.monotonic() - start < 8


def test_endless_output_is_cut(tmp_path: Path) -> None:
    done = asyncio.run(
        run(["sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x; echo end"], cwd=tmp_path, env=ENV, timeout=20)
    )
    assert len(done.stdout) == OUTPUT_LIMIT and done.stdout.endswith("xend\n")


def test_kill_minus_nine_leaves_no_process(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", FAMILY, str(tmp_path)], cwd=ROOT)
    pids = tmp_path / "pids"
    for _ in range(400):
        if (tmp_path / "spawned").exists() and pids.is_file() and pids.read_text().strip():
            break
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    # The reaper is a Python process: on a busy machine its start alone takes seconds.
    assert all(gone(int(pid), 20) for pid in pids.read_text().split())


def test_a_line_through_a_pipe(tmp_path: Path) -> None:
    async def read() -> bytes:
        ready, write_end = os.pipe()
        code = f"import os, time; os.write({write_end}, b'hello\\n'); time.sleep(300)"
        argv = [sys.executable, "-c", code]
        child = await spawn(argv, cwd=tmp_path, env=ENV, pass_fds=[write_end])
        os.close(write_end)
        async with child:
            return await read_fd(ready, 100, line=True)

    assert asyncio.run(read()) == b"hello\n"


def gone(pid: int, seconds: float) -> bool:
    """Whether the process ends within `seconds`. A zombie has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False
