"""The deployment that `--to` names, wherever it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from convex_evals.config import load_config
from convex_evals.publish.deployments import LOCAL, Deployment, find_deployment


def is_local(home: Path, to: str | None) -> bool:
    """Whether `--to` means the leaderboard on this machine: convex-evals.yaml may have a deployment of that name."""
    return to == LOCAL and LOCAL not in load_config(home).deployments


@asynccontextmanager
async def open_deployment(
    home: Path, to: str | None, progress: Callable[[str, int, int], None], warn: Callable[[str], None]
) -> AsyncIterator[Deployment]:
    """`local` is the leaderboard of `home` on this machine, which is started where it is not running.

    Raises `UserError`.
    """
    if is_local(home, to):
        from convex_evals.publish.local import open_local

        async with open_local(home, progress, warn) as served:
            yield served.deployment
    else:
        yield find_deployment(home, to)
