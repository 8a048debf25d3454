"""The folder of a site: the old tree, the new one beside it, and the moment in which the new one takes its place."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.errors import UserError, write_advice
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.process.interrupts import interrupts_held

MANIFEST = ".convex-evals-site.json"
_NEW = ".site-new"
_MANY = 2_000  # files: another process hashes them
_LIMITS = Limits(size=200_000_000)
_FOREIGN = "was not written by `cli site`, which replaces the whole folder; name another folder, or move it away"


@dataclass(frozen=True)
class SiteFile:
    """One file of a site."""

    key: str  # of what it was made of; empty: it is made each time
    digest: str  # of its bytes
    size: int


@dataclass(frozen=True)
class SiteTree:
    """One writing of a site. Files go to a folder beside it until all are there."""

    out: Path
    new: Path
    before: Mapping[str, SiteFile]  # the files of the site that is there, by their places
    whole: str  # of what all of that was made of
    own: tuple[str, ...]  # files at its top that are not the site's: they stay
    intact: frozenset[str] = frozenset()  # those of `before` that are there as they were written, once `checked`

    @classmethod
    @contextmanager
    def open(cls, out: Path) -> Iterator[SiteTree]:
        """Raises `UserError` where something else stands in `out`, or another process writes it."""
        from filelock import FileLock, Timeout

        out = out.absolute()
        locks = cache_dir() / "sites"
        name = hashlib.sha256(str(out.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        try:
            locks.mkdir(parents=True, exist_ok=True)
            with FileLock(locks / f"{name}.lock", timeout=0):
                yield from cls._opened(out)
        except Timeout:
            raise UserError(f"{out}: another `cli site` writes it now; wait until it is done") from None
        except OSError as error:
            advice = write_advice(error.errno, "name another folder")
            raise UserError(f"{error.filename or out}: {advice or error.strerror}; the site is as it was") from None

    @classmethod
    def _opened(cls, out: Path) -> Iterator[SiteTree]:
        before, whole = _manifest(out)
        own = _own_files(out, before)
        new = out.parent / f".{out.name}{_NEW}"
        # What a writing left that was ended.
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        try:
            yield cls(out, new, before, whole, own)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    @contextmanager
    def checking(self) -> Iterator[Callable[[], SiteTree]]:
        """Hash the files that are there, beside what the block does; what it gets waits for the end of that."""
        if len(self.before) < _MANY:
            yield lambda: replace(self, intact=_intact(self.out, self.before))
            return
        # Not a thread: it would get its turn between two files only now and then.
        with ProcessPoolExecutor(1, initializer=_ignore_interrupts) as pool:
            with interrupts_held():
                check = pool.submit(_intact, self.out, self.before)
            yield lambda: replace(self, intact=check.result())

    def is_as(self, whole: str) -> bool:
        """Whether the site is made of the same, and all its files are there as they were written."""
        return self.whole == whole and len(self.intact) == len(self.before)

    def keep(self, place: str, key: str) -> SiteFile | None:
        """The file that is there, taken over where it was made of the same; None where it has to be made."""
        known = self.before.get(place)
        if known is None or not key or known.key != key:
            return None
        return known if self._take_over(place) else None

    def write(self, place: str, content: bytes, key: str) -> SiteFile:
        """One file, unless the same one is there."""
        kept = SiteFile(key, _digest(content), len(content))
        known = self.before.get(place)
        if known is None or known.digest != kept.digest or not self._take_over(place):
            _write(f"{self.new}/{place}", content)
        return kept

    def _take_over(self, place: str) -> bool:
        """Whether the old file is there as it was written. It is linked, or else copied."""
        source, target = self.out / place, self.new / place
        if place not in self.intact:
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError:
            shutil.copyfile(source, target)
        return True

    def finish(self, files: Mapping[str, SiteFile], whole: str) -> None:
        """Put the new tree in the place of the old one, with what else stood at its top (CNAME, say)."""
        rows = {place: [kept.key, kept.digest, kept.size] for place, kept in sorted(files.items())}
        text = json.dumps({"kind": "site", "schema": 1, "whole": whole, "files": rows}, sort_keys=True, indent=0)
        (self.new / MANIFEST).write_text(f"{text}\n", encoding="utf-8")
        for name in self.own:
            shutil.copyfile(self.out / name, self.new / name)
        _exchange(self.new, self.out)


def _write(path: str, content: bytes) -> None:
    try:
        file = open(path, "wb", buffering=0)  # noqa: PTH123, SIM115  # of thousands of files
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "wb", buffering=0)  # noqa: PTH123, SIM115
    with file:
        file.write(content)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it


def _intact(out: Path, before: Mapping[str, SiteFile]) -> frozenset[str]:
    """The places whose files have the bytes that were written. None of them is reached through a link."""
    return frozenset(place for place, known in before.items() if _is_intact(f"{out}/{place}", known))


def _is_intact(path: str, known: SiteFile) -> bool:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  # of thousands of files
            content = file.read()
    except OSError:
        return False
    return len(content) == known.size and _digest(content) == known.digest


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]


def _manifest(out: Path) -> tuple[Mapping[str, SiteFile], str]:
    """What was written last; nothing where that cannot be read."""
    with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        data = decode((out / MANIFEST).read_text(encoding="utf-8"), _LIMITS)
        if data["kind"] == "site" and data["schema"] == 1:
            files = {
                str(place): SiteFile(str(key), str(digest), int(size))
                for place, (key, digest, size) in data["files"].items()
            }
            if all(_is_inside(place) for place in files):
                return files, str(data["whole"])
    return {}, ""


def _is_inside(place: str) -> bool:
    return not place.startswith("/") and ".." not in place.split("/") and "\0" not in place


def _own_files(out: Path, before: Mapping[str, SiteFile]) -> tuple[str, ...]:
    """The files at the top of `out` that are not the site's.

    Raises `UserError` where anything else is not: the whole folder is replaced.
    """
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UserError(f"{out}: is a link or a file; name a folder")
    folders: set[str] = set()
    for place in before:
        folder = place.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    found = []
    for place, is_file in _below(out, ""):
        if place in before or place == MANIFEST or (not is_file and place in folders):
            continue
        if not is_file or "/" in place or not before:
            raise UserError(f"{out / place}: {_FOREIGN}")
        found.append(place)
    return tuple(sorted(found))


def _below(folder: Path, above: str) -> Iterator[tuple[str, bool]]:
    """The places of all files and folders, and whether it is a file. Raises `UserError` of links and the like."""
    if not folder.is_dir():
        return
    with os.scandir(folder) as listed:
        entries = list(listed)
    for entry in entries:
        place = f"{above}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            yield place, False
            yield from _below(Path(entry.path), f"{place}/")
        elif entry.is_file(follow_symlinks=False):
            yield place, True
        else:
            raise UserError(f"{entry.path}: is a link, or no file; {_FOREIGN}")


def _exchange(new: Path, out: Path) -> None:
    """Put `new` in the place of `out`, in one step where the system has one: a reader sees the one or the other."""
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        new.rename(out)
        return
    if _swap(new, out):
        return
    old = new.with_name(f"{new.name}-old")
    shutil.rmtree(old, ignore_errors=True)
    out.rename(old)
    new.rename(out)
    shutil.rmtree(old, ignore_errors=True)


def _swap(one: Path, other: Path) -> bool:
    """Exchange two folders: renameat2(2) of Linux, renamex_np(2) of macOS. False where the file system cannot."""
    try:
        library = ctypes.CDLL(None, use_errno=True)
        names = os.fsencode(one), os.fsencode(other)
        if sys.platform == "linux":
            at_here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
            return bool(library.renameat2(at_here, names[0], at_here, names[1], exchange) == 0)
        if sys.platform == "darwin":
            return bool(library.renamex_np(names[0], names[1], 2) == 0)  # RENAME_SWAP
    except (OSError, AttributeError):
        pass
    return False
