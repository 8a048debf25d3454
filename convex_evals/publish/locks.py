"""One publisher at a time: in a repository, and from this user's account to a deployment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from convex_evals.config import Workspace, cache_dir
from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.publish.deployments import Deployment
from convex_evals.store.files import write_error


@contextmanager
def locked(workspace: Workspace, deployment: Deployment) -> Iterator[None]:
    """Raises `UserError` where another process publishes to the same deployment."""
    cache = cache_dir()
    digest = sha256(deployment.url.encode()).hexdigest()[:16]
    with (
        _one(workspace.journal_dir.parent / "publish" / f"{deployment.name}.lock", workspace.home, deployment),
        _one(cache / "publish" / f"{digest}.lock", cache, deployment),
    ):
        yield


@contextmanager
def _one(path: Path, root: Path, deployment: Deployment) -> Iterator[None]:
    lock, holder = FileLock(path), path.with_suffix(".pid")
    try:
        root.mkdir(parents=True, exist_ok=True)
        confined.make_folder(path.parent, root)
        confined.refuse_link(path, root)
        lock.acquire(blocking=False)
    except Timeout:
        raise UserError(
            f"{deployment.name}: another process publishes to it ({_holder(holder, root)}); wait until it is done"
        ) from None
    except OSError as error:
        raise write_error(path, error) from error
    try:
        confined.write(holder, root, f"{os.getpid()}\n".encode())
        yield
    finally:
        confined.write(holder, root, b"")
        lock.release()


def _holder(path: Path, root: Path) -> str:
    for _ in range(20):
        found = (confined.read_bytes(path, root, 100) or b"").decode("ascii", "replace").strip()
        if found.isdecimal():
            return f"process {found}"
        time.sleep(0.05)  # it has just begun
    return "not known which"
