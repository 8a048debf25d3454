"""A command, run to its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.clock import step_timeout
from convex_evals.process.children import spawn
from convex_evals.process.pipes import TailBuffer, drain

_LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class Completed:
    """A subprocess that has ended."""

    status: int | None  # exit status, negative for a signal; None where `run` ended it
    stdout: str  # the last 64 KiB
    stderr: str  # the last 64 KiB


async def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    hopeless: Callable[[str], bool] = lambda stderr: False,
) -> Completed:
    """Run a command to its end, at most `timeout` seconds; then its whole process group is killed.

    It is killed earlier once `hopeless` says so of the end of its standard error, which is asked now and then.
    """
    async with await spawn(argv, cwd=cwd, env=env, capture=True) as child:
        assert child.stdout is not None
        child.stdin.close()
        out = TailBuffer()
        draining = asyncio.create_task(drain(child.stdout, out))
        status: int | None = None
        try:
            async with step_timeout(timeout):
                while status is None and not hopeless(child.stderr.text()):
                    with contextlib.suppress(TimeoutError):
                        status = await asyncio.wait_for(child.wait(), _LOOK_SECONDS)
            if status is not None:
                await asyncio.wait({draining, child.drained}, timeout=1)
        except TimeoutError:
            pass
        finally:
            draining.cancel()
        return Completed(status, out.text(), child.stderr.text())
