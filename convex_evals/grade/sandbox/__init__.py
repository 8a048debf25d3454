"""How processes that execute or open model-written files are started.

One small interface, so that containment can be deepened in one place: callers say what a process is for and which
folders it needs; the sandbox decides how it is launched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from convex_evals.process import Child, spawn


@dataclass(frozen=True)
class Launch:
    """What one contained process needs."""

    argv: Sequence[str | Path]
    cwd: Path
    env: Mapping[str, str]
    readable: Sequence[Path] = ()  # folders it may read, besides system and toolchain
    writable: Sequence[Path] = ()  # folders it may write
    pass_fds: Sequence[int] = ()


class Sandbox(Protocol):
    """A level of containment."""

    @property
    def level(self) -> str:
        """Name of the level, recorded in every result."""

    async def launch(self, launch: Launch) -> Child: ...


class NoSandbox:
    """Clean environment and an own process group, nothing more: for code that was reviewed."""

    level = "none"

    async def launch(self, launch: Launch) -> Child:
        return await spawn(launch.argv, cwd=launch.cwd, env=launch.env, pass_fds=launch.pass_fds)
