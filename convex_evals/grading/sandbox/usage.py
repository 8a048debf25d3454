"""What processes that were launched use, as the system tells."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TABLES = re.compile(rb"\nVmPTE:\s+(\d+) kB")
_USER = re.compile(rb"\nUid:\s+(\d+)")


@dataclass
class Use:
    """Of all the processes of a launch together."""

    memory: int = 0  # bytes that are resident, and of page tables
    descriptors: int = 0
    users: set[int] = field(default_factory=set)
    pids: list[int] = field(default_factory=list)


def use_by_root(roots: Iterable[int]) -> dict[int, Use]:
    """What each root process, all its descendants, and all of its process group use."""
    parents: dict[int, int] = {}
    groups: dict[int, int] = {}
    resident: dict[int, int] = {}
    for pid in (int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()):
        line = _read(f"/proc/{pid}/stat")
        if not line:
            continue
        fields = line[line.rindex(b")") + 2 :].split()
        parents[pid], groups[pid] = int(fields[1]), int(fields[2])
        resident[pid] = int(fields[21]) * _PAGE_BYTES
    found = {root: Use() for root in roots}
    for pid, size in resident.items():
        above: int | None = pid
        while above is not None and above not in found:
            above = parents.get(above)
        if above is None and groups[pid] in found:
            above = groups[pid]
        if above is not None:
            _add(found[above], pid, size)
    return found


def _add(use: Use, pid: int, resident: int) -> None:
    status = _read(f"/proc/{pid}/status")
    tables, user = _TABLES.search(status), _USER.search(status)
    use.pids.append(pid)
    use.memory += resident + (int(tables[1]) * 1024 if tables else 0)
    if user:
        use.users.add(int(user[1]))
    with contextlib.suppress(OSError):
        use.descriptors += Path(f"/proc/{pid}/fd").stat().st_size  # how many there are, since Linux 6.2


def _read(path: str) -> bytes:
    """The beginning of a file of /proc; empty where it has gone. It is done for every process, without layers."""
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return os.read(opened, 4096)
    except OSError:
        return b""
    finally:
        os.close(opened)


def folder_size(folder: str, enough: int) -> int:
    """Bytes below a folder; counting stops when there are more than `enough`."""
    size = 0
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            with contextlib.suppress(OSError):
                size += max(_PAGE_BYTES, os.lstat(f"{parent}/{name}").st_blocks * 512)
        if size > enough:
            break
    return size


def nameless_size(pids: Iterable[int]) -> int:
    """Bytes of files that processes have open and that have no name any more, as far as we may look."""
    sizes: dict[tuple[int, int], int] = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    found = Path(entry.path).stat()
                    if found.st_nlink == 0 and stat.S_ISREG(found.st_mode):
                        sizes[found.st_dev, found.st_ino] = found.st_blocks * 512
    return sum(sizes.values())
