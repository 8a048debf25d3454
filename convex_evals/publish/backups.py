"""Copies of the data of a leaderboard on this machine, as zip files."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from convex_evals.errors import UserError
from convex_evals.publish.local import has_data, lock_data

# Besides them there is only what every start makes again.
_KEPT = re.compile(r"\.gitignore|token|(snapshot|log)-\d{8}[\w.-]*|files/[\w.-]+|ledgers/[^\\\x00]+\.json")
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # that a zip file can hold


def back_up(data: Path, target: Path) -> int:
    """Back up a leaderboard that is not being served to a new zip file; return how many files it has.

    The leaderboard's token is among them, so only its owner may read it. Raises `UserError`.
    """
    if target.exists():
        raise UserError(f"{target}: is there already; name another file")
    if not has_data(data):
        raise UserError(f"{data}: has no data of a leaderboard; choose its folder with --data")
    unfinished = target.with_name(f"{target.name}.unfinished")
    with lock_data(data):
        names = list(_files_of(data))
        try:
            descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as out:
                with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
                    for name in names:
                        archive.writestr(zipfile.ZipInfo(name, _EARLIEST), (data / name).read_bytes())
                out.flush()
                os.fsync(out.fileno())
            unfinished.rename(target)
        except OSError as error:
            raise UserError(f"{target}: cannot be written: {error.strerror}") from None
        finally:
            unfinished.unlink(missing_ok=True)
    return len(names)


def restore(archive: Path, data: Path) -> Path | None:
    """Replace the data in `data` with a backup; return where the old data are kept, None where there were none.

    Raises `UserError`, and then nothing has changed.
    """
    try:
        with zipfile.ZipFile(archive) as found:
            names = found.namelist()
            odd = next((name for name in names if not _is_kept(name)), None)
            if odd is not None or not any(name.startswith("log-") for name in names):
                what = f"has {odd!r}" if odd is not None else "has no log"
                raise UserError(f"{archive}: is no backup of a leaderboard: it {what}")
            with lock_data(data):
                new = Path(tempfile.mkdtemp(prefix=f"{data.name}.", dir=data.parent))
                try:
                    found.extractall(new)
                    return _exchange(new, data)
                except BaseException:
                    shutil.rmtree(new, ignore_errors=True)
                    raise
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise UserError(f"{archive}: cannot be restored: {getattr(error, 'strerror', None) or error}") from None


def _exchange(new: Path, data: Path) -> Path | None:
    """Put the folder `new` in the place of `data`; return where the old data are, None where there were none."""
    _sync(new)
    if not has_data(data):
        shutil.rmtree(data)
        new.rename(data)
        return None
    before = data.with_name(f"{data.name}.before-{datetime.now(UTC):%Y%m%d-%H%M%S}")
    data.rename(before)
    try:
        new.rename(data)
    except BaseException:
        before.rename(data)
        raise
    return before


def _sync(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o700 if path.is_dir() else 0o600)
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _files_of(data: Path) -> Iterator[str]:
    for path in sorted(data.rglob("*")):
        name = path.relative_to(data).as_posix()
        if path.is_file() and not path.is_symlink() and _is_kept(name):
            yield name


def _is_kept(name: str) -> bool:
    return _KEPT.fullmatch(name) is not None and ".." not in PurePosixPath(name).parts
