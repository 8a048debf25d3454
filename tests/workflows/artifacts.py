"""Artifacts of a workflow run: folders, laid out by the rules of upload-artifact and download-artifact v4."""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

_GLOB = re.compile(r"[*?\[]")


class ArtifactError(Exception):
    """The step fails with this message."""


@dataclass(frozen=True)
class _Pattern:
    """A line of `path:`, absolute."""

    text: str
    excludes: bool

    def root(self) -> Path:
        """What comes before the first part with a wildcard."""
        parts = PurePosixPath(self.text).parts
        plain = next((n for n, part in enumerate(parts) if _GLOB.search(part)), len(parts))
        return Path(*parts[:plain])

    def matches(self, path: Path) -> bool:
        """Whether it is `path`, or a folder above it."""
        expression = _to_regex(self.text)
        return any(expression.fullmatch(str(p)) for p in (path, *path.parents))


def _to_regex(pattern: str) -> re.Pattern[str]:
    """Wildcards match names that begin with a dot, too; only `**` crosses a slash."""
    pieces = re.split(r"(/\*\*(?=/|$)|\*|\?|\[[^\]]+\])", pattern)
    special = {"/**": "(?:/.*)?", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(special.get(p) or (p if p.startswith("[") else re.escape(p)) for p in pieces))


def find_files(paths: str, workspace: Path, home: Path, *, hidden: bool) -> tuple[list[Path], Path]:
    """The files that lines of `path:` name, and the folder that their places in the artifact are relative to."""
    lines = (line.strip() for line in paths.splitlines())
    patterns = [_parse(line, workspace, home) for line in lines if line and not line.startswith("#")]
    roots = _outermost([p.root() for p in patterns if not p.excludes])
    if not roots:
        raise ArtifactError("no path")
    found = [file for root in roots for file in _walk(root, hidden) if _is_wanted(file, patterns)]
    if len(roots) > 1:
        return found, Path(os.path.commonpath(roots))
    return found, roots[0].parent if found == roots else roots[0]


def _parse(line: str, workspace: Path, home: Path) -> _Pattern:
    excludes = line.startswith("!")
    text = line.removeprefix("!").strip()
    if text == "~" or text.startswith("~/"):
        text = str(home) + text[1:]
    return _Pattern(os.path.normpath(workspace / text), excludes)


def _outermost(roots: Sequence[Path]) -> list[Path]:
    unique = list(dict.fromkeys(roots))
    return [root for root in unique if not set(root.parents) & set(unique)]


def _walk(at: Path, hidden: bool) -> Iterator[Path]:
    """Files at and below a path; without `hidden`, nothing whose name begins with a dot, the path itself included."""
    if not at.exists() or (not hidden and at.name.startswith(".")):
        return
    if not at.is_dir():
        yield at
        return
    for child in sorted(at.iterdir()):
        yield from _walk(child, hidden)


def _is_wanted(file: Path, patterns: Sequence[_Pattern]) -> bool:
    """The last line that matches decides."""
    last = next((p for p in reversed(patterns) if p.matches(file)), None)
    return last is not None and not last.excludes


@dataclass
class Artifacts:
    """Of one workflow run; its later attempts see what the earlier ones left."""

    folder: Path
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def names(self) -> list[str]:
        return sorted(p.name for p in self.folder.iterdir()) if self.folder.is_dir() else []

    def upload(self, name: str, files: Sequence[Path], root: Path, *, overwrite: bool = False) -> None:
        """Contents alone: modes and links are lost, as in the archive that GitHub makes."""
        if re.search(r'["<>|*?:\r\n\\/]', name) or not name:
            raise ArtifactError(f"The artifact name is not valid: {name}")
        with self._lock:
            target = self.folder / name
            if overwrite:
                shutil.rmtree(target, ignore_errors=True)
            if target.exists():
                raise ArtifactError(f"(409) Conflict: an artifact with this name already exists: {name}")
            for file in files:
                copy = target / file.relative_to(root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)

    def download(self, into: Path, *, name: str = "", pattern: str = "", merge: bool = False) -> None:
        """One artifact by name goes straight to `into`; several each to a folder of its name, unless merged."""
        if name and name not in self.names():
            raise ArtifactError(f"Artifact not found for name: {name}")
        chosen = [name] if name else [n for n in self.names() if not pattern or fnmatchcase(n, pattern)]
        for one in chosen:
            shutil.copytree(self.folder / one, into if name or merge else into / one, dirs_exist_ok=True)
