"""The process of a `run:` step, and the files through which it tells its job something."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.processes import processes_with

# As https://docs.github.com/en/actions/reference/workflow-syntax-for-github-actions#jobsjob_idstepsshell has them.
SHELLS: dict[str | None, tuple[str, ...]] = {
    None: ("bash", "-e"),
    "bash": ("bash", "--noprofile", "--norc", "-eo", "pipefail"),
    "sh": ("sh", "-e"),
    "python": ("python",),
}
_LONGEST = 600.0  # seconds
_POLL = 0.02  # seconds
_HEREDOC = re.compile(r"([^=\n]+?)<<(\S+)")


@dataclass(frozen=True)
class Ended:
    code: int | None  # None: it was killed because `should_stop` said so
    output: str  # of both streams


def execute(
    script: str, shell: str | None, env: Mapping[str, str], cwd: Path, scratch: Path, should_stop: Callable[[], bool]
) -> Ended:
    """Run a script as a runner does. It is killed with its process group as soon as `should_stop` is true."""
    scratch.mkdir(parents=True)
    (scratch / "script").write_text(script, encoding="utf-8")
    argv = [*SHELLS[shell], str(scratch / "script")]
    log = scratch / "output"
    with log.open("wb") as out:
        process = subprocess.Popen(
            argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
        stopped = _wait(process, should_stop)
    output = log.read_text(encoding="utf-8", errors="replace")
    if stopped is TimeoutError:
        raise TimeoutError(f"{script.strip()[:200]!r} ran for {_LONGEST:.0f} s: {output[-2000:]}")
    return Ended(None if stopped else process.returncode, output)


def _wait(process: subprocess.Popen[bytes], should_stop: Callable[[], bool]) -> bool | type[TimeoutError]:
    start = time.monotonic()
    stopped: bool | type[TimeoutError] = False
    try:
        while not stopped:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_POLL)
                return False
            stopped = should_stop() or (time.monotonic() - start > _LONGEST and TimeoutError)
        return stopped
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def end_strays(tracking_id: str) -> None:
    """End what a job left running, in whatever process group, as a runner does: by RUNNER_TRACKING_ID.

    A process may start another one while it is ended, and takes a moment to be gone.
    """
    start = time.monotonic()
    while strays := processes_with(tracking_id):
        if time.monotonic() - start > _LONGEST:
            raise TimeoutError(f"processes {strays} cannot be ended")
        for pid in strays:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_POLL)


def read_assignments(path: Path) -> dict[str, str]:
    """What was written to GITHUB_OUTPUT or GITHUB_ENV: lines `NAME=VALUE`, or `NAME<<END`, lines, `END`."""
    found = {}
    lines = iter(path.read_text(encoding="utf-8").splitlines())
    for line in lines:
        heredoc = _HEREDOC.fullmatch(line)
        if heredoc:
            found[heredoc[1]] = "\n".join(_until(heredoc[2], lines, path))
        elif line:
            name, equals, value = line.partition("=")
            if not (equals and name):
                raise ValueError(f"{path.name}: invalid format: {line!r}")
            found[name] = value
    return found


def _until(end: str, lines: Iterator[str], path: Path) -> list[str]:
    found: list[str] = []
    for line in lines:
        if line == end:
            return found
        found.append(line)
    raise ValueError(f"{path.name}: matching delimiter not found: {end!r}")
