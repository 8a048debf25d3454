"""All sessions with their labels, listed and filtered quickly: a cache beside the files, which can be deleted any time.

`.cache/convex-evals/sessions.sqlite` has a row for each session, which is made again when the size or the time of
session.json or of the label is another than it was made from.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records.session import STATUSES, Label, Session, SessionStatus
from convex_evals.sessions.labels import read_label
from convex_evals.sessions.message import ASSISTANT, USER
from convex_evals.sessions.store import LABELS, RECORD, SESSIONS, SessionStore
from convex_evals.text import and_more

INDEX = Path(".cache", "convex-evals", "sessions.sqlite")
_VERSION = 2
_SCHEMA = """
create table if not exists sessions (
  id text primary key, stamp text not null, data text not null,
  ready integer not null, status text not null, tags text not null, tool text not null, models text not null,
  time text not null, folder text not null
);
create index if not exists newest on sessions (time desc, id);
create table if not exists texts (id text primary key, text blob not null);
"""
_MOST_TEXT = 1_000_000  # characters of a session that a search looks through
Progress = Callable[[int, int], None]  # sessions read, of how many


class SessionEntry(NamedTuple):
    """One session as lists show it."""

    id: str
    title: str | None
    tool: str
    models: tuple[str, ...]
    time: str | None  # of the last message
    folder: str | None
    git_branch: str | None
    parent: str | None
    messages: int
    exchanges: int
    tokens: int
    cost_usd: float | None
    cost_estimated: bool
    ready: bool
    status: SessionStatus
    tags: tuple[str, ...]
    reviewed_at: int | None  # ms since 1970
    has_expected: bool


@dataclass(frozen=True)
class SessionFilter:
    """Which sessions are meant; all conditions hold."""

    status: SessionStatus | None = None
    tags: tuple[str, ...] = ()  # each of them
    ready: bool | None = None
    model: str | None = None  # a part of its name
    tool: str | None = None
    search: str | None = None  # in titles, labels, requests and replies; case does not matter
    since: str | None = None  # day: the last message is not older
    project: str | None = None  # pattern of the folder, as a shell's

    def where(self) -> tuple[str, list[str | int | bytes]]:
        """As SQL, with its parameters."""
        conditions: list[tuple[str, str | int | bytes]] = []
        if self.status is not None:
            conditions.append(("status = ?", self.status.value))
        conditions += [("instr(tags, ?)", f"\n{tag}\n") for tag in self.tags]
        if self.ready is not None:
            conditions.append(("ready = ?", int(self.ready)))
        if self.model is not None:
            conditions.append(("instr(models, ?)", self.model.lower()))
        if self.tool is not None:
            conditions.append(("tool = ?", self.tool))
        if self.search is not None:
            conditions.append(("id in (select id from texts where contains(text, ?))", _searchable(self.search)))
        if self.since is not None:
            conditions.append(("time >= ?", self.since))
        if self.project is not None:
            conditions.append(("folder glob ?", self.project))
        return " and ".join(text for text, _ in conditions) or "1", [value for _, value in conditions]


@dataclass(frozen=True)
class Index:
    """The sessions of a store. `problems` are of files that could not be read, one line each."""

    connection: sqlite3.Connection
    problems: tuple[str, ...]

    def find(self, wanted: SessionFilter, limit: int | None = None) -> list[SessionEntry]:
        """The newest first; those of unknown time last."""
        return self.find_counted(wanted, limit)[0]

    def find_counted(self, wanted: SessionFilter, limit: int | None = None) -> tuple[list[SessionEntry], int]:
        """As `find`, and how many there are without the limit, which is at least one. Texts are searched once."""
        where, parameters = wanted.where()
        rows = self.connection.execute(
            f"select data, count(*) over () from sessions where {where} order by time desc, id limit ?",
            [*parameters, -1 if limit is None else limit],
        ).fetchall()
        return [_read_entry(data) for data, _ in rows], rows[0][1] if rows else 0

    def refuse_problems(self) -> None:
        """Raise `UserError` where a file could not be read: it cannot be told whether it was asked for."""
        if self.problems:
            raise UserError(self.problems[0] + and_more(len(self.problems) - 1))

    def outline(self, wanted: SessionFilter) -> list[tuple[str, SessionStatus]]:
        """Return the id and the status of each session, in the order of `find`: what pages of a list are cut from."""
        where, parameters = wanted.where()
        rows = self.connection.execute(
            f"select id, status from sessions where {where} order by time desc, id", parameters
        )
        return [(session_id, STATUSES[status]) for session_id, status in rows]

    def count(self, wanted: SessionFilter) -> int:
        where, parameters = wanted.where()
        (number,) = self.connection.execute(f"select count(*) from sessions where {where}", parameters).fetchone()
        return int(number)

    def entries(self, ids: Sequence[str]) -> list[SessionEntry]:
        """Return these sessions in this order, without those that are not there. At most some hundreds."""
        marks = ", ".join("?" * len(ids))
        rows = self.connection.execute(f"select id, data from sessions where id in ({marks})", list(ids))
        data = dict(rows.fetchall())
        return [_read_entry(data[session_id]) for session_id in ids if session_id in data]

    def tags(self) -> dict[str, int]:
        """Of all labels, with how many sessions have each."""
        found: Counter[str] = Counter()
        for (tags,) in self.connection.execute("select tags from sessions where tags != ''"):
            found.update(filter(None, tags.split("\n")))
        return dict(sorted(found.items()))


@contextmanager
def open_index(store: SessionStore, progress: Progress = lambda *_: None) -> Iterator[Index]:
    """The index, brought up to date: what has changed since is read."""
    with closing(_connection(store)) as connection:
        yield Index(connection, tuple(_update(store, connection, progress)))


def _update(store: SessionStore, connection: sqlite3.Connection, progress: Progress) -> list[str]:
    stamps, problems = dict(_stamps(store)), list[str]()
    known = dict(connection.execute("select id, stamp from sessions"))
    gone = [(id_,) for id_ in known.keys() - stamps.keys()]
    connection.executemany("delete from sessions where id = ?", gone)
    connection.executemany("delete from texts where id = ?", gone)
    stale = [id_ for id_, stamp in stamps.items() if known.get(id_) != stamp]
    for at, id_ in enumerate(stale):
        progress(at, len(stale))
        try:
            row, text = _row(store, id_, stamps[id_])
        except UserError as error:
            problems.append(str(error))
            connection.execute("delete from sessions where id = ?", (id_,))
            continue
        connection.execute(f"insert or replace into sessions values ({', '.join('?' * len(row))})", row)
        connection.execute("insert or replace into texts values (?, ?)", (id_, text))
    connection.commit()
    return problems


def _row(store: SessionStore, session_id: str, stamp: str) -> tuple[Sequence[str | int], bytes]:
    """The columns of a session's row, and the text that is searched."""
    session, label = store.read(session_id), read_label(store, session_id)
    row = (
        session_id,
        stamp,
        json.dumps(_entry(session, label), ensure_ascii=False),
        int(label.evalReady),
        label.evalStatus.value,
        "".join(f"\n{tag}\n" for tag in label.evalTags),
        session.tool,
        "\n".join(session.models).lower(),
        session.ended_at or session.started_at or "",
        session.folder or "",
    )
    return row, _searched_text(store, session, label)


def _entry(session: Session, label: Label) -> SessionEntry:
    return SessionEntry(
        id=session.id,
        title=session.title,
        tool=session.tool,
        models=session.models,
        time=session.ended_at or session.started_at,
        folder=session.folder,
        git_branch=session.git_branch,
        parent=session.parent,
        messages=session.messages,
        exchanges=session.exchanges,
        tokens=session.usage.input_tokens + session.usage.output_tokens,
        cost_usd=session.cost_usd,
        cost_estimated=session.cost_estimated,
        ready=label.evalReady,
        status=label.evalStatus,
        tags=label.evalTags,
        reviewed_at=label.reviewedAt,
        has_expected=label.expectedOutput is not None,
    )


def _read_entry(data: str) -> SessionEntry:
    entry = SessionEntry(*json.loads(data))
    return entry._replace(models=tuple(entry.models), status=SessionStatus(entry.status), tags=tuple(entry.tags))


def _searchable(text: str) -> bytes:
    """Whatever its case; as bytes, which Python searches several times as fast as SQLite searches text."""
    return text.casefold().encode("utf-8", "replace")


def _searched_text(store: SessionStore, session: Session, label: Label) -> bytes:
    said = [session.id, session.title or "", label.evalNotes, label.expectedOutput or "", *label.evalTags]
    left = _MOST_TEXT
    for message in store.messages(session.id):
        if message.role in (USER, ASSISTANT) and left > 0:
            said.append(message.text[:left])
            left -= len(said[-1])
    return _searchable("\n".join(said))


def _stamps(store: SessionStore) -> Iterator[tuple[str, str]]:
    """By session: what tells whether its record or its label has changed."""
    labels = dict(_files(store, LABELS, ".yaml"))
    top = store.root / SESSIONS
    for session_id in store.ids():
        try:
            # As text: paths of ten thousand files take longer to make than to look at.
            status = os.stat(f"{top}/{session_id[:2]}/{session_id}/{RECORD}", follow_symlinks=False)  # noqa: PTH116
        except FileNotFoundError:
            continue  # its first import was interrupted
        yield session_id, f"{status.st_mtime_ns} {status.st_size} {status.st_ino} {labels.get(session_id, '')}"


def _files(store: SessionStore, folder: str, suffix: str) -> Iterator[tuple[str, str]]:
    top = store.root / folder
    for group, kind in confined.entries(top, store.root).items():
        if kind != "folder":
            continue
        with os.scandir(top / group) as entries:
            for entry in entries:
                if entry.name.endswith(suffix):
                    status = entry.stat(follow_symlinks=False)
                    name = entry.name.removesuffix(suffix)
                    yield name, f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"


def _connection(store: SessionStore) -> sqlite3.Connection:
    """The cache; made again if it is broken or of another version, and in memory if it cannot be written."""
    path = store.root / INDEX
    try:
        confined.make_folder(path.parent, store.root)
        try:
            return _prepared(sqlite3.connect(path, timeout=60))
        except sqlite3.DatabaseError:
            confined.remove_file(path, store.root)
            return _prepared(sqlite3.connect(path, timeout=60))
    except (OSError, UserError, sqlite3.Error):
        return _prepared(sqlite3.connect(":memory:"))


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    try:
        if connection.execute("pragma user_version").fetchone()[0] not in (0, _VERSION):
            raise sqlite3.DatabaseError("of another version")
        # What a power cut takes is made again.
        connection.executescript(f"pragma synchronous = off; pragma user_version = {_VERSION}; {_SCHEMA}")
        connection.create_function("contains", 2, lambda text, part: part in text, deterministic=True)
        connection.execute("begin immediate")
    except BaseException:
        connection.close()
        raise
    return connection
