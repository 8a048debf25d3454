"""The cache of a repository, by the rules of actions/cache v4."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class _Entry:
    key: str
    paths: tuple[str, ...]  # as they were written: part of what is asked for
    ref: str
    folder: Path


@dataclass
class Caches:
    """Entries are never replaced. A branch sees its own and those of the default branch."""

    folder: Path
    entries: list[_Entry] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def save(self, key: str, paths: Sequence[str], ref: str, workspace: Path, home: Path) -> bool:
        """False where there is such an entry already, or nothing to save."""
        with self._lock:
            there = any((e.key, e.paths, e.ref) == (key, tuple(paths), ref) for e in self.entries)
            sources = {
                n: source for n, path in enumerate(paths) if (source := _resolve(path, workspace, home)).exists()
            }
            if there or not sources:
                return False
            entry = _Entry(key, tuple(paths), ref, self.folder / str(len(self.entries)))
            for n, source in sources.items():
                _copy(source, entry.folder / str(n))
            self.entries.append(entry)
            return True

    def restore(
        self, key: str, others: Sequence[str], paths: Sequence[str], refs: Sequence[str], workspace: Path, home: Path
    ) -> str | None:
        """The key of what was restored: the entry `key`, else the newest that begins with one of `others`, in order."""
        entry = self._find(key, others, tuple(paths), refs)
        if entry is None:
            return None
        for n, path in enumerate(paths):
            if (entry.folder / str(n)).exists():
                _copy(entry.folder / str(n), _resolve(path, workspace, home))
        return entry.key

    def _find(self, key: str, others: Sequence[str], paths: tuple[str, ...], refs: Sequence[str]) -> _Entry | None:
        for ref in refs:
            seen = [e for e in reversed(self.entries) if e.paths == paths and e.ref == ref]
            exact = [e for e in seen if e.key == key]
            near = [e for start in (key, *others) for e in seen if e.key.startswith(start)]
            if exact or near:
                return (exact or near)[0]
        return None


def _resolve(path: str, workspace: Path, home: Path) -> Path:
    return home / path[2:] if path.startswith("~/") else workspace / path


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)
