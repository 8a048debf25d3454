"""Run a command whose output is shown as it comes, and which is ended where it takes too long."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from pathlib import Path

from tests.time_limits import all_stacks

_ENDING_SECONDS = 20.0
_AT_ONCE = 65536


def run_streaming(
    argv: list[str], cwd: Path, environment: dict[str, str] | None = None, limit: float | None = None
) -> tuple[int | None, list[str]]:
    """Run a command: its exit code (None where it was ended at `limit` seconds), and the lines it printed."""
    ended = threading.Event()

    def end() -> None:
        ended.set()
        print(f"\n== not done after {limit:.0f} s: ended\n{all_stacks()}", flush=True)
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()

    chunks = []
    with subprocess.Popen(argv, cwd=cwd, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        timer = threading.Timer(limit, end) if limit else None
        if timer:
            timer.daemon = True
            timer.start()
        assert process.stdout is not None
        while chunk := os.read(process.stdout.fileno(), _AT_ONCE):
            text = chunk.decode(errors="replace")
            print(text, end="", flush=True)
            chunks.append(text)
        process.wait()
        if timer:
            timer.cancel()
    return None if ended.is_set() else process.returncode, "".join(chunks).splitlines()
