"""Which files are read, and by the reader of which agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.sessions.conversation import Source
from convex_evals.sessions.sources.detection import detect
from convex_evals.sessions.sources.registry import NAMES, find_source


@dataclass(frozen=True, slots=True)
class Chosen:
    """A file with conversations."""

    source: Source
    file: Path


def choose(paths: Sequence[Path], name: str | None, home: Path) -> Iterator[Chosen]:
    """The files at and below `paths`, else those that the agents keep below `home`; each once.

    Without the name of an agent, files say themselves whose they are. Raises `UserError`.
    """
    seen: set[Path] = set()
    for each in _all(paths, name, home):
        path = each.file.absolute()
        if path not in seen:
            seen.add(path)
            yield each


def _all(paths: Sequence[Path], name: str | None, home: Path) -> Iterator[Chosen]:
    sources = [find_source(each) for each in ([name] if name else NAMES)]
    if not paths:
        places = [(source, place) for source in sources for place in source.places(home)]
        if not places:
            raise UserError(f"{name}: no agent keeps such files in a place of its own; name a file or a folder")
        for source, place in places:
            if place.exists():
                yield from (Chosen(source, file) for file in source.files(place))
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
        yield from _given(path, sources, is_named=name is not None)


def _given(path: Path, sources: Sequence[Source], *, is_named: bool) -> Iterator[Chosen]:
    if is_named:
        yield from (Chosen(source, file) for source in sources for file in source.files(path))
    elif path.is_dir():
        for source in sources:
            yield from (Chosen(source, file) for file in source.files(path) if detect(file) == source.name)
    else:
        found = detect(path)
        if found is None:
            raise UserError(f"{path}: not known whose conversations these are; name the agent with --from")
        yield Chosen(find_source(found), path)
