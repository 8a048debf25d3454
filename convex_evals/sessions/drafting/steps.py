"""What can happen to a file in a session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Write:
    """The file has this text from then on."""

    path: str
    text: str


@dataclass(frozen=True)
class Replace:
    """A part of the file is another."""

    path: str
    old: str
    new: str
    everywhere: bool = False


@dataclass(frozen=True)
class Remove:
    """The file is gone."""

    path: str


@dataclass(frozen=True)
class Move:
    """The file has another path."""

    path: str
    target: str


@dataclass(frozen=True)
class Seen:
    """A tool showed the whole file: it was there."""

    path: str
    text: str


@dataclass(frozen=True)
class Unreplayable:
    """The file was changed, and the session does not say to what."""

    path: str
    tool: str


Edit = Write | Replace | Remove | Move | Seen | Unreplayable


@dataclass(frozen=True)
class EditStep:
    """An edit, and the number of its message, from 1."""

    message: int
    edit: Edit


def text_of(lines: Iterable[str]) -> str:
    """The text of a file with these lines: each of them is ended."""
    return "".join(f"{line}\n" for line in lines)
