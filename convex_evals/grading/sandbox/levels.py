"""Opening a level of containment."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import Level, NoSandbox, Sandbox
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.sandbox.container import ContainerSandbox, need_linux, open_container
from convex_evals.grading.sandbox.etc import make_etc
from convex_evals.grading.sandbox.kernel import CAP_CHOWN, CAP_SETUID, CAP_SYS_ADMIN, is_root_with
from convex_evals.grading.sandbox.landlock import NEEDED_LANDLOCK, landlock_version
from convex_evals.grading.sandbox.landlocked import LandlockSandbox
from convex_evals.grading.sandbox.strict import StrictSandbox
from convex_evals.grading.toolchain import Toolchain

_MOST_PLACES = 8  # a temporary folder, and what a launch may write to


@asynccontextmanager
async def open_sandbox(
    level: Level,
    toolchain: Toolchain,
    folder: Path,
    readable: Sequence[Path] = (),
    exposed: Callable[[], None] = lambda: None,
) -> AsyncIterator[Sandbox]:
    """Containment of the given level until the context ends; `folder` is for what it needs on disk.

    No launch can read anything but what is in `folder`, in `readable` and in the toolchain. Without containment,
    `exposed` is called before anything but our own programs is launched.

    Raises `UserError` where a program that the level needs is missing; whether it contains, only a probe can tell.
    """
    match level:
        case Level.NONE:
            async with open_launcher() as launcher:
                yield NoSandbox(launcher, exposed)
        case Level.STRICT:
            # Otherwise namespaces come with a user namespace, if the system has any.
            root = is_root_with(CAP_SYS_ADMIN, CAP_SETUID)
            bwrap = _program("bwrap", "bubblewrap")
            setpriv = _program("setpriv", "util-linux") if root else None
            etc = Path(tempfile.mkdtemp(prefix="sandbox-", dir=folder)) / "etc"
            make_etc(etc)
            places = [etc.with_name(f"memory-{number}") for number in range(_MOST_PLACES)]
            for place in places:
                place.mkdir()
            async with open_launcher(new_user=not root) as launcher:
                yield StrictSandbox(launcher, bwrap, setpriv, etc, places, tools_of(toolchain))
        case Level.LANDLOCK:
            _need_landlock()
            as_others = is_root_with(CAP_CHOWN, CAP_SETUID)
            if as_others:
                _refuse_hidden(tools_of(toolchain))
            async with open_launcher() as launcher:
                yield LandlockSandbox(launcher, folder, tools_of(toolchain), as_others)
        case Level.CONTAINER:
            need_linux()
            _need_landlock()
            tools = tools_of(toolchain)
            as_others = is_root_with(CAP_CHOWN, CAP_SETUID)
            async with open_container([*tools, *readable], folder, as_others) as launcher:
                yield ContainerSandbox(launcher, folder, tools, as_others)


def _need_landlock() -> None:
    if landlock_version() < NEEDED_LANDLOCK:
        raise UserError("the kernel has no Landlock of version 6 (Linux 6.12), or does not use it")


def tools_of(toolchain: Toolchain) -> list[Path]:
    """What every contained process may read."""
    node = toolchain.node
    folders = [node.executable.parents[1], node.bin_dir, toolchain.node_modules.parent]
    # Node.js goes by where files really are.
    return list(dict.fromkeys([*folders, *(folder.resolve() for folder in folders)]))


def _refuse_hidden(tools: list[Path]) -> None:
    for folder in (above for tool in tools for above in (tool, *tool.parents)):
        if not folder.stat().st_mode & 0o001:
            raise UserError(f"started as root, it becomes another user, who cannot enter {folder}: chmod o+x it")


def _program(name: str, package: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UserError(f"{name} is not on PATH (Debian, Ubuntu: apt-get install {package})")
    return found
