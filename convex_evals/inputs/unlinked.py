"""Opening what is below a folder, component by component, so that no link on the way is followed.

The folder itself (`root`), and what leads to it, is the user's choice and may be a link.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_CLOSED = getattr(os, "O_CLOEXEC", 0)  # in children
# Windows has none of this: there, components have to be looked at before a path is used.
HAS_OPEN_FOLDERS = os.open in os.supports_dir_fd and bool(_NO_LINK)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_LINK | _CLOSED
# Without waiting for the other end of a pipe.
FILE = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | _CLOSED


def open_folder(root: Path, parts: Sequence[str], *, create: bool = False) -> int:
    """A descriptor of the folder `root`/`parts`; with `create` the folders below `root` are made.

    Raises `OSError`: `ELOOP` or `ENOTDIR` where one of `parts` is a link, or no folder.
    """
    at = os.open(root, FOLDER & ~_NO_LINK)
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
