"""The one way to read files of a suite, which may come from elsewhere.

Plain files of bounded size, below the suite's folder, reached through no link: neither a file of the host nor a pipe
that never ends is read, whatever the suite names or contains.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path, PurePosixPath

from convex_evals.errors import UserError
from convex_evals.inputs.unlinked import open_below
from convex_evals.text import decoded, spelled_out

LONGEST_FILE = 4 * 1024 * 1024  # bytes
MOST_FILES = 5_000  # of one project
MOST_FOLDERS = 10_000  # in one folder
DEEPEST = 32  # folders in folders
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+@-]{0,99}")


def read_inside(root: Path, path: str | Path, limit: int = LONGEST_FILE) -> str:
    """The text of `path`, which is below `root` or relative to it, with LF line ends and no byte order mark.

    Raises `UserError` where it is no such file.
    """
    shown = _shown(root / path)
    try:
        fd = open_below(root, _parts(root, path))
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise UserError(f"{shown}: is not a regular file; put a file there")
            data = file.read(limit + 1) if status.st_size <= limit else b""
    except FileNotFoundError:
        raise UserError(f"{shown}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{shown}: is a folder; put a file there") from None
    except OSError as error:
        raise UserError(_why(shown, error)) from None
    if max(len(data), status.st_size) > limit:
        raise UserError(f"{shown}: larger than {limit:,} bytes; make it shorter")
    return decoded(data, shown).replace("\r\n", "\n")


def is_there(root: Path, path: str | Path) -> bool:
    """Whether anything has this name, a link that leads nowhere included: reading it says what is wrong with it."""
    return os.path.lexists(root / path)


def problem_with(root: Path, path: Path, *, folder: bool = False) -> str | None:
    """What is wrong with a file or folder that is there, in words; None where it can be read."""
    try:
        fd = open_below(root, _parts(root, path))
    except OSError as error:
        return _why(_shown(path), error)
    try:
        mode = os.fstat(fd).st_mode
    finally:
        os.close(fd)
    if stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode):
        return None
    return f"{_shown(path)}: is not a {'folder; put one' if folder else 'regular file; put one'} there"


def refuse_links(root: Path, path: Path, advice: str = "put a folder or a file there") -> None:
    """Raise `UserError` where reading `path`, below `root`, or writing to it, would lead elsewhere."""
    place = root
    for part in path.relative_to(root).parts:
        place = place / part
        if place.is_symlink():
            raise UserError(f"{_shown(place)}: is a link, and nothing is read or written through it; {advice}")


def folders_in(root: Path, parent: Path, skipped: Collection[str]) -> list[Path]:
    """Folders of a folder by name, without hidden ones; none where it is not there. Raises `UserError`."""
    if not is_there(root, parent):
        return []
    if problem := problem_with(root, parent, folder=True):
        raise UserError(problem)
    found = []
    with os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith((".", "_")) or entry.name in skipped:
                continue
            if entry.is_symlink() and entry.is_dir():
                raise UserError(f"{_shown(Path(entry))}: is a link; a suite is read from its own folders alone")
            if entry.is_dir(follow_symlinks=False):
                found.append(parent / entry.name)
            if len(found) > MOST_FOLDERS:
                raise UserError(f"{_shown(parent)}: more than {MOST_FOLDERS:,} folders; split the suite")
    return sorted(found)


def refuse_odd_name(folder: Path) -> None:
    """Raise `UserError` where the name of an eval or a project is none to print and to make folders of."""
    if not _NAME.fullmatch(folder.name):
        raise UserError(f"{_shown(folder)}: a name is letters, digits, '_', '-' and '.', 100 at most; rename it")


def files_below(
    root: Path, folder: Path, skipped: Collection[str], keep: Callable[[str], bool] | None = None
) -> Iterator[str]:
    """Files below `folder` by posix path, in order, without links. Raises `UserError` where these are too many."""
    if not is_there(root, folder):
        return
    if problem := problem_with(root, folder, folder=True):
        raise UserError(problem)
    count = 0
    for directory, names, filenames in os.walk(folder):
        at = Path(directory).relative_to(folder)
        if len(at.parts) > DEEPEST:
            raise UserError(f"{_shown(folder)}: folders nested more than {DEEPEST} deep; flatten it")
        names[:] = sorted(n for n in names if n not in skipped)
        for name in sorted(filenames):
            relative = PurePosixPath(at.as_posix(), name).as_posix()
            if Path(directory, name).is_symlink() or (keep and not keep(relative)):
                continue
            count += 1
            if count > MOST_FILES:
                raise UserError(f"{_shown(folder)}: more than {MOST_FILES:,} files; a project of an eval is small")
            if not relative.isprintable():
                raise UserError(f"{_shown(folder / relative)}: a name that cannot be printed; rename it")
            yield relative


def _parts(root: Path, path: str | Path) -> tuple[str, ...]:
    """Below `root`. Raises `UserError` where the path leads out of it."""
    place = Path(path)
    if place.is_absolute() and place.is_relative_to(root):
        place = place.relative_to(root)
    if place.is_absolute() or ".." in place.parts or "\0" in str(path):
        raise UserError(f"{_shown(place)}: leads out of {_shown(root)}; name a file in there")
    return place.parts


def _why(shown: str, error: OSError) -> str:
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
        return f"{shown}: is a link or behind one, or not a regular file; a suite is read from its own files alone"
    return f"cannot read {shown}: {error.strerror}"


def _shown(path: Path) -> str:
    return spelled_out(str(path)).replace("\n", "\\x0a").replace("\t", "\\x09")
