"""Files below a folder that others may have filled: reached without following a link, and only regular ones.

A pull request, a checkout or an archive can bring links that lead out of it, pipes that never end, and folders without
end. The folder itself (`root`), and what leads to it, is the user's choice and may be a link. Every function raises
`UserError`, one line, where something else than a file or a folder is in the way.
"""

# ruff: noqa: PTH105, PTH116 - the methods of `Path` know no open folder to start from.

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.inputs.unlinked import FILE, FOLDER, HAS_OPEN_FOLDERS, open_file_at_once, open_folder

TEMPORARY = ".tmp-"
MOST_ENTRIES = 100_000
_LEAST_READ = 4_096
_WHERE = "nothing is read or written through links; remove it, or put what it leads to in its place"


@dataclass(frozen=True)
class _Place:
    """A name as system calls take it: relative to an open folder where there are such, else the whole path."""

    name: str
    folder: int | None

    @property
    def where(self) -> dict[str, Any]:
        return {} if self.folder is None else {"dir_fd": self.folder}


def kind_of(path: Path, root: Path) -> str | None:
    """`file` or `folder`; None where there is nothing."""
    with _parent(path, root) as place:
        return None if place is None else _kind(place, path)


def is_file(path: Path, root: Path) -> bool:
    return kind_of(path, root) == "file"


def read_bytes(path: Path, root: Path, most: int) -> bytes | None:
    """Of at most `most` bytes; None where there is no such file."""
    try:
        data = _read_at_once(path, root, most + 1)
        if data is None:
            data = _read_in_steps(path, root, most + 1)
        if data is None:
            return None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; move it away") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > most:
        raise UserError(f"{path}: more than {most:,} bytes; restore the file from Git, or remove it")
    return data


def _read_at_once(path: Path, root: Path, most: int) -> bytes | None:
    """At most that many bytes; None where that is to be said, or refused, step by step."""
    parts = _below(path, root)
    fd = open_file_at_once(root, parts) if parts and ".." not in parts else None
    if fd is None:
        return None
    try:
        status = os.fstat(fd)
        return _read(fd, status, path, most) if stat.S_ISREG(status.st_mode) else None
    finally:
        os.close(fd)


def _read_in_steps(path: Path, root: Path, most: int) -> bytes | None:
    """At most that many bytes; None where there is no such file."""
    with _parent(path, root) as place:
        if place is None or _kind(place, path) is None:
            return None
        fd = os.open(place.name, FILE, **place.where)
        try:
            return _read(fd, os.fstat(fd), path, most)
        finally:
            os.close(fd)


def _read(fd: int, status: os.stat_result, path: Path, most: int) -> bytes:
    """At most that many bytes. A file object would make room for all of them before it reads."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise UserError(f"{path}: not a file; move it away")
    pieces, left = [], most
    while left and (piece := os.read(fd, min(left, max(status.st_size, _LEAST_READ) + 1))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def entries(path: Path, root: Path, most: int = MOST_ENTRIES) -> dict[str, str]:
    """The names in a folder, or in `root`, sorted, each with what it is; empty where there is no folder."""
    try:
        if path == root:
            return _entries(path, path, most) if path.is_dir() else {}
        with _parent(path, root) as place:
            if place is None or _kind(place, path) != "folder":
                return {}
            fd = os.open(place.name, FOLDER, **place.where) if HAS_OPEN_FOLDERS else None
            try:
                return _entries(path if fd is None else fd, path, most)
            finally:
                if fd is not None:
                    os.close(fd)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None


def _entries(folder: Path | int, path: Path, most: int) -> dict[str, str]:
    found: dict[str, str] = {}
    with os.scandir(folder) as listed:
        for entry in listed:
            if len(found) == most:
                raise UserError(f"{path}: more than {most:,} entries; move some of them away")
            if entry.is_symlink():
                raise UserError(f"{path / entry.name}: is a link, and {_WHERE}")
            plain = entry.is_file(follow_symlinks=False)
            found[entry.name] = "file" if plain else "folder" if entry.is_dir(follow_symlinks=False) else "other"
    return dict(sorted(found.items()))


def size_of(path: Path, root: Path) -> int:
    """In bytes; 0 where there is no such file."""
    with _parent(path, root) as place:
        if place is None or _kind(place, path) != "file":
            return 0
        return os.stat(place.name, **place.where, follow_symlinks=False).st_size


def make_folder(path: Path, root: Path) -> None:
    """With all folders that lead to it, `root` included."""
    with _parent(path / "x", root, create=True):
        pass


def write(path: Path, root: Path, data: bytes) -> None:
    """Write a whole file: a reader sees the old one or the new one. Raises `OSError`, too.

    A process that is killed on the way leaves at most a complete file under a temporary name.
    """
    write_pieces(path, root, (data,))


def write_pieces(path: Path, root: Path, pieces: Iterable[bytes]) -> None:
    """As `write`, of a file that is made piece by piece; what making them raises leaves the old file as it is."""
    with _parent(path, root, create=True) as place:
        assert place is not None, "its folder was made"
        name = f"{TEMPORARY}{os.getpid()}-{os.urandom(4).hex()}"
        temporary = _Place(name if HAS_OPEN_FOLDERS else str(path.with_name(name)), place.folder)
        try:
            _write_whole(temporary, pieces)
            _replace(temporary, place)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary.name, **temporary.where)
            raise


def move(path: Path, to: Path, root: Path) -> None:
    """Put a file in the place of another. Raises `OSError`, too."""
    with _parent(path, root) as source, _parent(to, root, create=True) as target:
        if source is not None and target is not None and _kind(source, path) == "file":
            _replace(source, target)


def remove_file(path: Path, root: Path) -> None:
    """Where there is one. A folder stays."""
    with _parent(path, root) as place:
        if place is not None and _kind(place, path) == "file":
            os.unlink(place.name, **place.where)


def remove_tree(path: Path, root: Path) -> None:
    """A folder and all that is in it; links in it are removed, never followed. What cannot be removed stays."""
    with _parent(path, root) as place:
        if place is None or _kind(place, path) != "folder":
            return
        if HAS_OPEN_FOLDERS and shutil.rmtree.avoids_symlink_attacks:
            shutil.rmtree(place.name, ignore_errors=True, dir_fd=place.folder)
        else:
            shutil.rmtree(path, ignore_errors=True)


def refuse_link(path: Path, root: Path) -> None:
    """Raises `UserError` where `path`, or what leads to it from `root`, is a link or anything else that is no file."""
    kind_of(path, root)


def _kind(place: _Place, path: Path) -> str | None:
    try:
        mode = os.stat(place.name, **place.where, follow_symlinks=False).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    what = f"is a link, and {_WHERE}" if stat.S_ISLNK(mode) else "neither a file nor a folder; move it away"
    raise UserError(f"{path}: {what}")


@contextlib.contextmanager
def _parent(path: Path, root: Path, *, create: bool = False) -> Iterator[_Place | None]:
    """Where `path` stands; None where its folder is not there. With `create` it is made."""
    parts = _below(path, root)
    if not parts or ".." in parts:
        raise UserError(f"{path}: not below {root}")
    if create:
        root.mkdir(parents=True, exist_ok=True)
    if not HAS_OPEN_FOLDERS:
        yield _checked(path, root, parts, create)
        return
    fd: int | None = None
    try:
        fd = _descend(path, root, parts, create)
        yield None if fd is None else _Place(parts[-1], fd)
    finally:
        if fd is not None:
            os.close(fd)


def _below(path: Path, root: Path) -> tuple[str, ...]:
    """`path.relative_to(root).parts`, which takes longer than opening a file, where they are spelled alike."""
    own, above = path.parts, root.parts
    return own[len(above) :] if own[: len(above)] == above else path.relative_to(root).parts


def _descend(path: Path, root: Path, parts: tuple[str, ...], create: bool) -> int | None:
    """The open folder that `path` stands in; None where it is not there, or a file is in the way."""
    try:
        return open_folder(root, parts[:-1], create=create)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        _checked(path, root, parts, create=False)  # says where a link is
        if create:
            raise
        return None


def _checked(path: Path, root: Path, parts: tuple[str, ...], create: bool) -> _Place | None:
    folder = root
    for part in parts[:-1]:
        folder = folder / part
        kind = _kind(_Place(str(folder), None), folder)
        if kind is None and create:
            folder.mkdir(exist_ok=True)
        elif kind != "folder":
            return None
    return _Place(str(path), None)


def _replace(source: _Place, target: _Place) -> None:
    if source.folder is None:
        os.replace(source.name, target.name)
    else:
        os.replace(source.name, target.name, src_dir_fd=source.folder, dst_dir_fd=target.folder)


def _write_whole(place: _Place, pieces: Iterable[bytes]) -> None:
    """Make a file of `pieces`. Where the file system can, it has no name before it is complete."""
    nameless = getattr(os, "O_TMPFILE", None) if HAS_OPEN_FOLDERS else None
    try:
        fd = os.open(".", nameless | os.O_WRONLY, 0o644, **place.where) if nameless else -1
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT):
            raise
        fd = -1
    if fd < 0:
        fd, nameless = os.open(place.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, **place.where), None
    with os.fdopen(fd, "wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
        if nameless:
            # Python follows the link only where a folder is given too; with an absolute path any descriptor will do.
            own = file.fileno()
            os.link(f"/proc/self/fd/{own}", place.name, src_dir_fd=own, dst_dir_fd=place.folder)
