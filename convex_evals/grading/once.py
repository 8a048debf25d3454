"""Folders that are made once, whole or not at all, by however many processes that want them at the same time."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from filelock import FileLock, Timeout

from convex_evals.grading.npm import Progress, remove_tree
from convex_evals.store.files import write_error


async def make_once(target: Path, build: Callable[[Path], Awaitable[None]], progress: Progress | None = None) -> None:
    """Make the folder `target` by `build`, which fills a folder beside it; a complete `target` is left alone.

    The folder appears by one rename, so an interrupted build leaves nothing that looks complete. What a killed
    build left behind is removed by the next one, under the same lock.
    """
    if target.is_dir():
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(target.with_name(target.name + ".lock"))
        await _acquire(lock, target, progress)
    except OSError as error:
        raise write_error(target, error) from error
    try:
        if target.is_dir():
            return
        for leftover in target.parent.glob(f"{target.name}.tmp-*"):
            remove_tree(leftover)
        temporary = target.with_name(f"{target.name}.tmp-{os.getpid()}")
        try:
            temporary.mkdir()
            await build(temporary)
            temporary.rename(target)
        except OSError as error:
            raise write_error(target, error) from error
        finally:
            remove_tree(temporary)
    finally:
        lock.release()


async def _acquire(lock: FileLock, target: Path, progress: Progress | None) -> None:
    told = False
    while True:
        try:
            lock.acquire(blocking=False)
            return
        except Timeout:
            if progress and not told:
                progress(f"waiting for another process that makes {target.name}", 0, 0)
                told = True
            await asyncio.sleep(0.1)
