"""What commands and trials keep for each other, and whether it still is what it was."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

from convex_evals.grading.service import GradingService

_UNFINISHED = ".tmp-"
Entries = dict[str, tuple[object, ...]]  # by path


@dataclass(frozen=True)
class Caches:
    """The folders that one command leaves to the next, and one trial to another."""

    packages: Path
    answers: Path  # what is made of them is kept for other commands
    prepared: Path  # the same and compiled graders, for trials of this command
    toolchain: tuple[Path, ...]

    def glance(self) -> Entries:
        """Status of the files that trials come near. No unprivileged change leaves a file's ctime as it was."""
        return {name: _glance(path) for name, path in _walk(self.packages, self.answers, self.prepared)}

    def content(self) -> Entries:
        """Hashes of all bytes that the next command finds, those of the toolchain included."""
        return {name: _content(path) for name, path in _walk(self.packages, self.answers, *self.toolchain)}

    def explained(self, path: str, wanted: Set[str]) -> bool:
        """Whether a new file is of a set of packages that asks for nothing but the packages `wanted`.

        What is prepared in a command may grow: a canary may be graded at any time.
        """
        if Path(path).is_relative_to(self.prepared):
            return True
        if not Path(path).is_relative_to(self.packages):
            return False
        installed = self.packages / Path(path).relative_to(self.packages).parts[0]
        return _asked_for(installed) <= wanted

    def unfinished(self) -> list[str]:
        """Folders that somebody began to make and neither finished nor removed."""
        return [f"{path} is left" for root in (self.packages, self.answers) for path in root.glob(f"*{_UNFINISHED}*")]


def caches_of(service: GradingService) -> Caches:
    """What `service` shares with others."""
    toolchain = service.toolchain
    return Caches(
        service.packages.root,
        service.packages.root.with_name("answers"),
        service.prepared.folder,
        (toolchain.sources, toolchain.node_modules, toolchain.sealed_node.parent, toolchain.node.bin_dir),
    )


def differences(before: Entries, after: Entries) -> Iterator[tuple[str, str]]:
    """Paths that are not as before, and what became of each."""
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            yield path, "was removed"
        elif path not in before:
            yield path, "is new"
        elif before[path] != after[path]:
            yield path, "was changed"


def _walk(*roots: Path) -> Iterator[tuple[str, Path]]:
    for root in roots:
        for folder, folders, files in os.walk(root):
            # What is being made right now, for another trial.
            folders[:] = [name for name in folders if _UNFINISHED not in name]
            for name in (*folders, *files):
                # A lock has no content, and is opened to wait for others.
                if not name.endswith(".lock"):
                    path = Path(folder, name)
                    yield str(path), path


def _glance(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    if stat.S_ISDIR(found.st_mode):
        return (found.st_mode, found.st_uid)
    return (
        found.st_mode,
        found.st_uid,
        found.st_size,
        found.st_nlink,
        found.st_ino,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )


def _content(path: Path) -> tuple[object, ...]:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return (found.st_mode, str(path.readlink()))
    if stat.S_ISREG(found.st_mode):
        return (found.st_mode, found.st_uid, hashlib.sha256(path.read_bytes()).hexdigest())
    return (found.st_mode, found.st_uid)


def _asked_for(installed: Path) -> frozenset[str]:
    manifest = installed / "package.json"
    if not manifest.is_file():
        return frozenset()
    data: Mapping[str, Mapping[str, str]] = json.loads(manifest.read_text(encoding="utf-8"))
    return frozenset(name for key in ("dependencies", "optionalDependencies") for name in data.get(key, {}))
