"""Reading and writing single files: atomic, and with errors that say where and what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path

from convex_evals.errors import UserError

_ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EROFS: "the file system is read-only; choose another folder with --runs-dir or CONVEX_EVALS_CACHE",
    errno.EACCES: "no permission to write; mend the permissions or choose another folder",
    errno.EPERM: "no permission to write; mend the permissions or choose another folder",
    errno.ENOTDIR: "a file is in the way of a folder; move it away",
}


def write_atomic(path: Path, text: str) -> None:
    """Write `text` so that a reader sees the old file or the new one, never a part, even after a power cut."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".tmp-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> UserError:
    """The one line for a failed write."""
    advice = _ADVICE.get(error.errno or 0, "see the reason above")
    return UserError(f"cannot write {path}: {error.strerror}; {advice}")


def read_text(path: Path) -> str:
    """The text with LF line ends. Raises `UserError` where it is missing or not UTF-8."""
    try:
        return path.read_text(encoding="utf-8").replace("\r\n", "\n")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
