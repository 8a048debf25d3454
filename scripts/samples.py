"""What commands print in a fresh clone, for the README; cog puts it there."""

from __future__ import annotations

import subprocess
import sys

from convex_evals.store.runs import RunStore
from scripts.sample_runs import AFTER, BEFORE, ROOT

_WIDTH = 110  # columns


def sample(command: str, lines: int | None = None) -> str:
    """A command line and the first `lines` lines that it prints (None: all), long ones truncated, as a code block."""
    done = subprocess.run([sys.executable, "cli.py", *command.split()], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"cli {command}: {done.stderr}")
    shown = done.stdout.replace(f"{ROOT}/", "").rstrip("\n").split("\n")
    rest = ["..."] if lines is not None and len(shown) > lines else []
    return "\n".join(f"    {_cut(line)}".rstrip() for line in [f"$ cli {command}", *shown[:lines], *rest])


def versions() -> str:
    """The two commits of the guidelines that the recorded runs are of."""
    plans = [RunStore(ROOT / "runs").find(name).plan for name in (BEFORE, AFTER)]
    return " ".join(str(plan.guidelines).partition("@")[2] for plan in plans)


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
