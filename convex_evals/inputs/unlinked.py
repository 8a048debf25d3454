"""Opening what is below a folder so that no link on the way is followed: by the kernel, else component by component.

The folder itself (`root`), and what leads to it, is the user's choice and may be a link.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CLOSED = getattr(os, "O_CLOEXEC", 0)  # in children
# Windows has none of this: there, components have to be looked at before a path is used.
HAS_OPEN_FOLDERS = os.open in os.supports_dir_fd and bool(_NO_LINK)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _CLOSED
# Without waiting for the other end of a pipe.
FILE = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | _CLOSED
# openat2 of Linux 5.6 has this number on all machines that we know of; a kernel without it says so.
_OPENAT2 = 437
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_FILE_BELOW = struct.pack("QQQ", FILE, 0, _NO_MAGIC_LINKS | _NO_LINKS | _BENEATH)
_FOLDER_BELOW = struct.pack("QQQ", FOLDER, 0, _NO_MAGIC_LINKS | _NO_LINKS | _BENEATH)


def open_folder(root: Path, parts: Sequence[str], *, create: bool = False) -> int:
    """A descriptor of the folder `root`/`parts`; with `create` the folders below `root` are made.

    Raises `OSError`: `ELOOP` or `ENOTDIR` where one of `parts` is a link, or no folder.
    """
    at = os.open(root, FOLDER & ~_NO_LINK)
    if len(parts) > 1 and not create:
        try:
            found = _open_at_once(at, parts, _FOLDER_BELOW)
        except BaseException:
            os.close(at)
            raise
        if found is not None:
            os.close(at)
            return found
    for part in parts:
        try:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=at)
            inner = os.open(part, FOLDER, dir_fd=at)
        finally:
            os.close(at)
        at = inner
    return at


def open_below(root: Path, parts: Sequence[str]) -> int:
    """A descriptor of what is at `root`/`parts`, a file or not. Raises `OSError` as `open_folder` does."""
    at = open_folder(root, parts[:-1])
    try:
        return os.open(parts[-1], FILE, dir_fd=at) if parts else os.dup(at)
    finally:
        os.close(at)


def open_file_at_once(root: Path, parts: Sequence[str]) -> int | None:
    """A descriptor of `root`/`parts`, by one system call; None where it is not there, or has to be opened in steps."""
    try:
        at = os.open(root, FOLDER & ~_NO_LINK)
        try:
            return _open_at_once(at, parts, _FILE_BELOW)
        finally:
            os.close(at)
    except OSError:
        return None


def _open_at_once(at: int, parts: Sequence[str], how: bytes) -> int | None:
    """What is at `parts` below the open folder `at`, by one system call; None where it has to be done in steps.

    Raises `FileNotFoundError`. Any other failure is left to the steps, which say it as they always did.
    """
    call = _system_call()
    path = os.fsencode("/".join(parts))
    if call is None or b"\0" in path:
        return None
    found, failure = call(_OPENAT2, at, path, how, len(how))
    if failure == errno.ENOENT:
        raise FileNotFoundError(failure, os.strerror(failure))
    return found if found >= 0 else None


@cache
def _system_call() -> Callable[[int, int, bytes, bytes, int], tuple[int, int]] | None:
    """Makes a system call of four arguments: what it returned, and the error's number. None where there is no way."""
    if sys.platform != "linux":
        return None
    try:
        import ctypes
    except ImportError:
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.argtypes = (ctypes.c_long, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t)
    call.restype = ctypes.c_long

    def made(number: int, at: int, path: bytes, how: bytes, size: int) -> tuple[int, int]:
        found: int = call(number, at, path, how, size)
        return found, 0 if found >= 0 else ctypes.get_errno()

    return made
