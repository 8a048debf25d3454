"""What commands print in a fresh clone, for the README; cog puts it there."""

from __future__ import annotations

import subprocess
import sys

from scripts.sample_runs import ROOT

_WIDTH = 110  # columns


def sample(command: str, lines: int | None = None) -> str:
    """A command line and the first `lines` lines that it prints (None: all), long ones truncated, as a code block."""
    done = subprocess.run([sys.executable, "cli.py", *command.split()], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"cli {command}: {done.stderr}")
    shown = done.stdout.replace(f"{ROOT.resolve()}/", "").rstrip("\n").split("\n")
    rest = ["..."] if lines is not None and len(shown) > lines else []
    return "\n".join(["```", f"$ cli {command}", *map(_cut, shown[:lines]), *rest, "```"])


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
