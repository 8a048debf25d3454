"""Formats whose files are made of a part for each session, so that parts can be kept, and put together elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from convex_evals.sessions.exports.labelled import LabelledSession


@dataclass(frozen=True)
class PartedFormat:
    """How a session becomes a part, and parts become a file. Sessions whose part is empty leave no trace in it."""

    part: Callable[[LabelledSession], Iterator[bytes]]  # piece by piece
    opening: bytes = b""
    separator: bytes = b""
    closing: bytes = b""
    empty: bytes = b""  # the file without any part

    def write(self, sessions: Iterable[LabelledSession]) -> Iterator[bytes]:
        """The file, piece by piece, with one session in memory at a time."""
        is_empty = True
        for session in sessions:
            before = self.opening if is_empty else self.separator
            for piece in filter(None, self.part(session)):
                yield before + piece
                before, is_empty = b"", False
        yield self.empty if is_empty else self.closing
