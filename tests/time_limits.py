"""Time limits of tests: one that hangs fails, with the stacks of all threads and of all its child processes.

pytest-timeout says which limit a test has (`timeout` in pyproject.toml, or the marker); this module sets the timer.
"""

from __future__ import annotations

import faulthandler
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests import patience, tier

# Long tests in full size.
_SOAK_FACTOR = 20
# A test that goes on after it was failed, in a fixture that waits for instance, is failed again after this time.
_AGAIN_SECONDS = 30.0
# A process that Python signals do not reach, in native code for instance, is ended after this time.
_END_SECONDS = 120.0
_STACKS_SECONDS = 20.0
_SHOWN_CHILDREN = 40
_COMMAND_LENGTH = 300

_real_stderr = 2


def pytest_configure(config: pytest.Config) -> None:
    global _real_stderr
    _real_stderr = os.dup(2)  # while a test runs, output is captured


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    limit = patience.seconds(settings.timeout) * (_SOAK_FACTOR if tier.is_soak else 1)

    def strike(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail(f"Timeout: the test took more than {limit:.0f} s.\n{all_stacks()}", pytrace=False)

    signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, limit, _AGAIN_SECONDS)
    faulthandler.dump_traceback_later(limit + _END_SECONDS, exit=True, file=_real_stderr)
    return True


def pytest_timeout_cancel_timer(item: pytest.Item) -> bool:
    faulthandler.cancel_dump_traceback_later()
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return True


def all_stacks() -> str:
    """Return where each thread of this process is, and what each of its descendants does."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
        faulthandler.dump_traceback(file, all_threads=True)
        file.seek(0)
        own = file.read()
    deadline = time.monotonic() + _STACKS_SECONDS
    children = list(descendants(os.getpid()))
    texts = [_describe(pid, deadline) for pid in children[:_SHOWN_CHILDREN]]
    if len(children) > _SHOWN_CHILDREN:
        texts.append(f"and {len(children) - _SHOWN_CHILDREN} more child processes")
    return "\n".join([own, *texts]) if texts else f"{own}\nNo child processes."


def descendants(pid: int) -> Iterator[int]:
    """The children of a process, their children, and so on. Nothing where there is no /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            after_name = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(after_name[1]), []).append(int(entry.name))
    left = children.get(pid, [])[::-1]
    while left:
        found = left.pop()
        yield found
        left += children.get(found, [])[::-1]


def _describe(pid: int, deadline: float) -> str:
    """What a process is, what it waits for, and the stacks of its threads where it is Python."""
    folder = Path(f"/proc/{pid}")
    try:
        words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        state = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
        waits = (folder / "wchan").read_text(encoding="utf-8", errors="replace") or "-"
    except OSError:
        return f"child process {pid}: ended meanwhile"
    head = f"child process {pid}, state {state}, waits in {waits}: {words[:_COMMAND_LENGTH] or '(no command line)'}"
    spy = shutil.which("py-spy", path=str(Path(sys.executable).parent))
    seconds = deadline - time.monotonic()
    if "python" not in words.partition(" ")[0] or spy is None or seconds <= 0:
        return head
    try:
        dumped = subprocess.run(
            [spy, "dump", "--nonblocking", "--pid", str(pid)],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return head
    return f"{head}\n{dumped.stdout}" if dumped.returncode == 0 else head
