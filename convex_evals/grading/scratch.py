"""Where projects are graded: a temporary folder per command, gone when the command is."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from convex_evals.grading.npm import remove_tree
from convex_evals.store.files import write_error

_PREFIX = "convex-evals-"
_LOCK = "in-use.lock"
_PRIVATE = 0o700


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A new folder under OUTPUT_TEMPDIR or the system's temporary folder.

    What killed commands left behind there is removed first.
    """
    parent = Path(os.environ.get("OUTPUT_TEMPDIR") or tempfile.gettempdir())
    _remove_abandoned(parent)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder, lock = _make(parent)
    except OSError as error:
        raise write_error(parent, error) from error
    try:
        yield folder
    finally:
        _remove(folder)
        lock.release()


def _make(parent: Path) -> tuple[Path, FileLock]:
    """A new folder, and its lock, which is held."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent)).resolve()
        lock = FileLock(folder / _LOCK)
        lock.acquire()
        # Before it had its lock, another command may have taken it for an abandoned one: this makes it again, open.
        if stat.S_IMODE(folder.stat().st_mode) == _PRIVATE:
            return folder, lock
        lock.release()


def _remove(folder: Path) -> None:
    """The lock last: without it, what a killed removal left would not be known to be ours to remove."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                remove_tree(entry)
            elif entry.name != _LOCK:
                entry.unlink(missing_ok=True)
    remove_tree(folder)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        with suppress(OSError, Timeout):
            if not _is_ours(folder):
                continue
            if not (folder / _LOCK).exists():
                folder.rmdir()  # killed before it had a lock, or when all but the folder was removed
                continue
            lock = FileLock(folder / _LOCK)
            lock.acquire(blocking=False)
            _remove(folder)
            lock.release()


def _is_ours(folder: Path) -> bool:
    """Whether a command of this user made `folder`: in a place like /tmp every user can make one with such a name.

    Opening another user's lock would follow their link, and removing their tree could take for ever.
    """
    found = folder.lstat()
    try:
        is_plain = stat.S_ISREG((folder / _LOCK).lstat().st_mode)
    except FileNotFoundError:
        is_plain = True
    return (
        stat.S_ISDIR(found.st_mode)
        and found.st_uid == os.geteuid()
        and stat.S_IMODE(found.st_mode) & 0o022 == 0
        and is_plain
    )


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write checked paths below a new `folder`."""
    folder.mkdir(parents=True)
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n", errors="replace")
