"""Which files are read, and by the reader of which agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.sessions.conversation import Reader
from convex_evals.sessions.readers.detection import detect
from convex_evals.sessions.readers.registry import NAMES, find_reader


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with conversations."""

    reader: Reader
    file: Path


def choose(paths: Sequence[Path], name: str | None, home: Path) -> Iterator[FoundFile]:
    """The files at and below `paths`, else those that the agents keep below `home`; each once.

    Without the name of an agent, files say themselves whose they are. Raises `UserError`.
    """
    seen: set[Path] = set()
    for each in _all(paths, name, home):
        path = each.file.absolute()
        if path not in seen:
            seen.add(path)
            yield each


def _all(paths: Sequence[Path], name: str | None, home: Path) -> Iterator[FoundFile]:
    readers = [find_reader(each) for each in ([name] if name else NAMES)]
    if not paths:
        places = [(reader, place) for reader in readers for place in reader.places(home)]
        if not places:
            raise UserError(f"{name}: no agent keeps such files in a place of its own; name a file or a folder")
        for reader, place in places:
            if place.exists():
                yield from (FoundFile(reader, file) for file in reader.files(place))
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
        yield from _given(path, readers, is_named=name is not None)


def _given(path: Path, readers: Sequence[Reader], *, is_named: bool) -> Iterator[FoundFile]:
    if is_named:
        yield from (FoundFile(reader, file) for reader in readers for file in reader.files(path))
    elif path.is_dir():
        for reader in readers:
            yield from (FoundFile(reader, file) for file in reader.files(path) if detect(file) == reader.name)
    else:
        found = detect(path)
        if found is None:
            raise UserError(f"{path}: not known whose conversations these are; name the agent with --from")
        yield FoundFile(find_reader(found), path)
