"""Control groups: limits of the kernel's own on memory, kernel memory included, and processes, for each launch.

They are used where a group is ours to divide: the topmost one that is in sight, or one that systemd delegated
(`systemd-run --scope -p Delegate=yes`). A group that another program manages is left alone.

Source: https://docs.kernel.org/admin-guide/cgroup-v2.html and .../cgroup-v1/memory.html.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PREFIX = "convex-evals-"
_CONTROLLERS = ("memory", "pids")


@dataclass
class ControlGroup:
    """The group of one launch: a folder, or one for each controller."""

    folders: Sequence[Path]

    def enter(self) -> None:
        """Let this process, and all that it starts, be counted. Raises `OSError`."""
        for folder in self.folders:
            (folder / "cgroup.procs").write_text("0")

    def ran_out(self) -> bool:
        """Whether the kernel ended a process of it for want of memory."""
        for name in ("memory.events", "memory.oom_control"):
            with contextlib.suppress(OSError):
                lines = (self.folders[0] / name).read_text().splitlines()
                return any(line.startswith("oom_kill ") and not line.endswith(" 0") for line in lines)
        return False

    def remove(self) -> bool:
        """End what is left in it. False where that takes the system a moment."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                (folder / "cgroup.kill").write_text("1")
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                return False
        return True


@dataclass
class Groups:
    """Makes groups below folders of our own: one with both controllers, or one for each."""

    means: str  # for people
    _folders: Sequence[Path]
    _locks: list[int]  # as long as these are held, what is in the folders is in use
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _leaving: list[ControlGroup] = field(default_factory=list)

    def make(self, memory: int, processes: int) -> ControlGroup:
        """A group for a launch. Raises `OSError`."""
        name = str(next(self._ids))
        group = ControlGroup([folder / name for folder in self._folders])
        for folder in group.folders:
            folder.mkdir()
        first, last = group.folders[0], group.folders[-1]
        (last / "pids.max").write_text(str(processes))
        if len(group.folders) == 1:
            (first / "memory.max").write_text(str(memory))
            (first / "memory.oom.group").write_text("1")
        else:
            (first / "memory.limit_in_bytes").write_text(str(memory))
        for name, value in (("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", memory)):
            with contextlib.suppress(OSError):  # where swap is counted
                (first / name).write_text(str(value))
        return group

    def leave(self, group: ControlGroup) -> None:
        """Remove the group of a launch that has ended, now or soon."""
        self._leaving = [left for left in (*self._leaving, group) if not left.remove()]

    def tidy(self) -> None:
        self._leaving = [left for left in self._leaving if not left.remove()]

    def close(self) -> None:
        self.tidy()
        for folder in self._folders:
            with contextlib.suppress(OSError):
                folder.rmdir()


def open_groups() -> Groups | None:
    """Groups of our own, where the machine lets us have them; those that killed commands left behind are removed."""
    try:
        own = _own_folders()
        if not own or not all(_is_ours(folder, top) for folder, top in own):
            return None
        folders, locks = [], []
        for folder, _ in own:
            _sweep(folder)
            if len(own) == 1:
                _share_out(folder)
            made, lock = _create_folder(folder)
            folders.append(made)
            locks.append(lock)
            if len(own) == 1:
                (made / "cgroup.subtree_control").write_text("+memory +pids")
        return Groups("cgroup v2" if len(own) == 1 else "cgroup v1", folders, locks)
    except OSError:
        return None


def _own_folders() -> list[tuple[Path, Path]]:
    """The group that this process is in, and the topmost in sight: of version 2, or for each controller."""
    paths = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    found: dict[str, tuple[Path, Path]] = {}
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        root, top = left.split()[3:5]
        kind, _, options = right.split(None, 2)
        for _, controllers, path in paths:
            wanted = {"cgroup2": not controllers, "cgroup": controllers in options.split(",")}.get(kind, False)
            if wanted and Path(path).is_relative_to(root):
                found[controllers] = (Path(top) / Path(path).relative_to(root), Path(top))
    if "" in found and _offers(found[""][0]):
        return [found[""]]
    return [found[name] for name in _CONTROLLERS] if all(name in found for name in _CONTROLLERS) else []


def _offers(folder: Path) -> bool:
    return set(_CONTROLLERS) <= set((folder / "cgroup.controllers").read_text().split())


def _is_ours(folder: Path, top: Path) -> bool:
    if folder == top:
        return os.access(folder, os.W_OK)
    for name in ("trusted.delegate", "user.delegate"):
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False


def _share_out(folder: Path) -> None:
    """Let groups below `folder` have limits: unless it is the machine's first one, no process may be in it then."""
    control = folder / "cgroup.subtree_control"
    if set(_CONTROLLERS) <= set(control.read_text().split()):
        return
    if (folder / "cgroup.type").exists():
        others = folder / "commands"
        others.mkdir(exist_ok=True)
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (others / "cgroup.procs").write_text(pid)
    control.write_text("+memory +pids")


def _create_folder(folder: Path) -> tuple[Path, int]:
    """A new folder, and a lock on it."""
    made = folder / f"{_PREFIX}{secrets.token_hex(6)}"
    made.mkdir()
    lock = os.open(made, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return made, lock


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(left, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for group in (entry for entry in left.iterdir() if entry.is_dir()):
                    ControlGroup([group]).remove()
                left.rmdir()
            finally:
                os.close(lock)
