"""Reading and writing single files: atomic, and with errors that say where and what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from pathlib import Path

from convex_evals.errors import UserError

TEMPORARY = ".tmp-"
_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EROFS: "the file system is read-only; choose another folder (--runs-dir, CONVEX_EVALS_CACHE, OUTPUT_TEMPDIR)",
    errno.EACCES: "no permission to write; mend the permissions or choose another folder",
    errno.EPERM: "no permission to write; mend the permissions or choose another folder",
    errno.ENOTDIR: "a file is in the way of a folder; move it away",
}


def write_atomic(path: Path, text: str) -> None:
    """Write `text` so that a reader sees the old file or the new one, never a part, even after a power cut.

    A process that is killed on the way leaves at most a complete file under a temporary name.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}")
        try:
            _write_whole(temporary, text.encode("utf-8", "replace"))
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise write_error(path, error) from error


def _write_whole(path: Path, data: bytes) -> None:
    """Make `path` with `data`. Where the file system can, it has no name before it is complete."""
    nameless = getattr(os, "O_TMPFILE", None)
    try:
        fd = os.open(path.parent, nameless | os.O_WRONLY, 0o644) if nameless else -1
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT):
            raise
        fd = -1
    if fd < 0:
        fd, nameless = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), None
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        if nameless:
            # Python follows the link only where a folder is given too; with an absolute path any descriptor will do.
            os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=file.fileno())


def remove_temporary(folder: Path) -> None:
    """Remove what a killed process left below `folder`."""
    for path in folder.rglob(f"{TEMPORARY}*"):
        with contextlib.suppress(OSError):
            path.unlink()


def write_error(path: Path, error: OSError) -> UserError:
    """The one line for a failed write."""
    advice = _ADVICE.get(error.errno or 0, "see the reason above")
    return UserError(f"cannot write {path}: {error.strerror}; {advice}")
