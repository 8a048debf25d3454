"""Which sessions an export has, and where it goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from convex_evals.sessions.exports import EXPORTS, LabelledSession
from convex_evals.sessions.labels import read_label
from convex_evals.sessions.store import SessionStore
from convex_evals.store.files import write_pieces


def labelled(store: SessionStore, ids: Iterable[str]) -> Iterator[LabelledSession]:
    """Each of these sessions with its label; messages are read when they are needed. Raises `UserError`."""
    for session_id in ids:
        yield LabelledSession(
            store.read(session_id), read_label(store, session_id), partial(store.messages, session_id)
        )


def export(store: SessionStore, ids: Sequence[str], form: str) -> Iterator[bytes]:
    """A file of the format `form`, piece by piece. Raises `UserError`."""
    return EXPORTS[form].write(labelled(store, ids))


def export_to(path: Path, store: SessionStore, ids: Sequence[str], form: str) -> None:
    """Write the file as a whole, or not at all. Raises `UserError`."""
    write_pieces(path, export(store, ids, form))
