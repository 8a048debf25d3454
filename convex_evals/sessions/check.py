"""`cli sessions check`: what is wrong with sessions and labels, as a workflow asks before it merges."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records.session import Session
from convex_evals.sessions.labels import read_label
from convex_evals.sessions.store import LABELS, SessionStore

_NAME = re.compile(r"[0-9a-f]{20}\.yaml")


def problems(store: SessionStore) -> Iterator[str]:
    """One line for each: where, what, and what to do."""
    known: set[str] = set()
    by_content: defaultdict[str, list[str]] = defaultdict(list)
    for session_id in store.ids():
        known.add(session_id)
        session, found = _session(store, session_id)
        yield from found
        if session is not None:
            by_content[session.messages_sha256].append(session_id)
    for ids in by_content.values():
        if len(ids) > 1:
            yield f"sessions {', '.join(ids)}: have the same messages; delete all but one of their folders"
    yield from _labels(store, known)


def _session(store: SessionStore, session_id: str) -> tuple[Session | None, list[str]]:
    try:
        session = store.read(session_id)
        if not store.is_complete(session):
            folder = store.folder(session_id)
            return session, [f"{folder}: its files are not those that session.json names; import the session again"]
        number = sum(1 for _ in store.messages(session_id))
        if number != session.messages:
            path = store.folder(session_id)
            return session, [f"{path}: {number} messages instead of {session.messages}; import the session again"]
    except UserError as error:
        return None, [str(error)]
    return session, []


def _labels(store: SessionStore, known: set[str]) -> Iterator[str]:
    top = store.root / LABELS
    for group, kind in confined.entries(top, store.root).items():
        if kind != "folder":
            yield f"{top / group}: labels stand in {LABELS}/<xx>/<id>.yaml; move it there, or delete it"
            continue
        for name in confined.entries(top / group, store.root):
            yield from _label(store, known, group, name)


def _label(store: SessionStore, known: set[str], group: str, name: str) -> Iterator[str]:
    path = store.root / LABELS / group / name
    if not _NAME.fullmatch(name) or not name.startswith(group):
        yield f"{path}: not the name of a label, {LABELS}/<xx>/<id>.yaml; move it there, or delete it"
        return
    session_id = name.removesuffix(".yaml")
    try:
        read_label(store, session_id)
    except UserError as error:
        yield str(error)
    if session_id not in known:
        yield f"{path}: label of a session that is not there; import or restore the session, or delete the label"
