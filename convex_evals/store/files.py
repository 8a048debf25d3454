"""Reading and writing single files: atomic, and with errors that say where and what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from convex_evals.errors import UserError, write_advice
from convex_evals.inputs import confined
from convex_evals.text import decoded

MOST_TEXT = 32 * 1024 * 1024  # bytes of a reply, or a report
_ELSEWHERE = "choose another folder (--runs-dir, CONVEX_EVALS_CACHE, OUTPUT_TEMPDIR)"


def write_atomic(path: Path, text: str, root: Path | None = None) -> None:
    """Write `text` so that a reader sees the old file or the new one, never a part, even after a power cut.

    Nothing below `root` is written through a link; without it, `path` is the user's own choice. A process that is
    killed on the way leaves at most a complete file under a temporary name.
    """
    try:
        confined.write(path, root or path.parent, text.encode("utf-8", "replace"))
    except OSError as error:
        raise write_error(path, error) from error


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """As `write_atomic`, of a file of the user's own choice that is made piece by piece."""
    try:
        confined.write_pieces(path, path.parent, pieces)
    except OSError as error:
        raise write_error(path, error) from error


def remove_temporary(folder: Path, root: Path) -> None:
    """Remove what a killed process left below `folder`."""
    for name, kind in confined.entries(folder, root).items():
        if kind == "folder":
            remove_temporary(folder / name, root)
        elif name.startswith(confined.TEMPORARY):
            with contextlib.suppress(OSError):
                confined.remove_file(folder / name, root)


def read_confined(path: Path, root: Path, most: int = MOST_TEXT) -> str | None:
    """A text file below `root` with LF line ends; None where there is none. Raises `UserError`."""
    data = confined.read_bytes(path, root, most)
    return None if data is None else decoded(data, path).replace("\r\n", "\n")


def write_error(path: Path, error: OSError) -> UserError:
    """The one line for a failed write."""
    advice = write_advice(error.errno, _ELSEWHERE) or _ELSEWHERE
    return UserError(f"cannot write {path}: {error.strerror}; {advice}")
