"""Ends what this process started once it is gone itself.

The reaper is a tiny process that outlives this one by moments: when this one goes away for any reason, `kill -9`
included, the pipe to the reaper closes and it kills every process group that is still registered. A child that has
just started may not be, for some milliseconds.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import IO

_REAPER_SOURCE = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    op, pgid = line[0], int(line[1:])
    (groups.add if op == "+" else groups.discard)(pgid)
for pgid in groups:
    try: os.killpg(pgid, signal.SIGKILL)
    except OSError: pass
"""


class Reaper:
    """Kills registered process groups once this process is gone."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def stand_by(self) -> None:
        """Before a child starts, so that it is registered the moment after."""
        self._pipe()

    def register(self, pgid: int) -> None:
        self._tell(f"+{pgid}\n")

    def forget(self, pgid: int) -> None:
        if self._process is not None:
            self._tell(f"-{pgid}\n")

    def _tell(self, line: str) -> None:
        pipe = self._pipe()
        with contextlib.suppress(BrokenPipeError):
            pipe.write(line)
            pipe.flush()

    def _pipe(self) -> IO[str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _REAPER_SOURCE],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
                # Model-written code of the same user could read its environment, and keys may stand in ours.
                env={k: os.environ[k] for k in ("LD_LIBRARY_PATH", "SYSTEMROOT") if k in os.environ},
            )
        assert self._process.stdin is not None
        return self._process.stdin


REAPER = Reaper()


def kill_group(pgid: int) -> None:
    """Kill all processes of a group, where there are any."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pgid, signal.SIGKILL)
