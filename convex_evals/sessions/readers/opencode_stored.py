"""The three forms in which OpenCode keeps a session, brought to the one of `opencode export`."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convex_evals.inputs.bounded_json import decode
from convex_evals.sessions.conversation import Problems
from convex_evals.sessions.lines import LIMITS, LONGEST_LINE, json_file
from convex_evals.sessions.readers.cursor_sqlite import Database, DatabaseProblem, bounded, text
from convex_evals.sessions.readers.values import Data, Piece, piece


class DocumentProblem(Exception):
    """Why a file is not a session."""


@dataclass
class Stored:
    """A session with its messages and their parts, in order."""

    id: str
    session: Piece
    messages: list[tuple[Piece, list[Piece]]] = field(default_factory=list)
    others: list[tuple[str, Piece]] = field(default_factory=list)  # with their kinds


def file_session(file: Path, problems: Problems) -> Stored:
    """The session of an export, or of a session's file in `storage` with those of its messages and parts.

    Raises `DocumentProblem`, or `OSError`.
    """
    line = json_file(file)
    document = line.value
    if line.problem:
        raise DocumentProblem(line.problem)
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        return _exported(document, file)
    if isinstance(document, dict) and isinstance(document.get("id"), str) and file.name.startswith("ses_"):
        return _kept(document, file, problems)
    raise DocumentProblem("neither an export nor a session of OpenCode")


def _exported(document: Data, file: Path) -> Stored:
    session = piece(document.get("info"))
    native_id = (session.value or {}).get("id")
    stored = Stored(native_id if isinstance(native_id, str) and native_id else file.stem, session)
    for entry in document["messages"]:
        if not isinstance(entry, dict):
            stored.messages.append((piece(entry), []))
            continue
        parts = entry.get("parts")
        stored.messages.append((piece(entry.get("info")), list(map(piece, parts if isinstance(parts, list) else []))))
    stored.others = [(key, piece({key: value})) for key, value in document.items() if key not in ("info", "messages")]
    return stored


def _kept(session: Data, file: Path, problems: Problems) -> Stored:
    """Ids are those of the files: their contents are not asked which other files to open."""
    storage = file.absolute().parent.parent.parent
    stored = Stored(file.stem, piece(session, id=file.stem))
    for message in _json_files(storage / "message" / file.stem):
        parts = _json_files(storage / "part" / message.stem)
        stored.messages.append((_read(message, problems), [_read(part, problems) for part in parts]))
    return stored


def _json_files(folder: Path) -> list[Path]:
    """Their names begin with the time."""
    return sorted(path for path in folder.glob("*.json") if path.is_file() and not path.is_symlink())


def _read(file: Path, problems: Problems) -> Piece:
    try:
        line = json_file(file)
    except OSError as error:
        problems(f"{file}: cannot be read ({error.strerror}); left out")
        return Piece("", None)
    if line.problem or not isinstance(line.value, dict):
        problems(f"{file}:1: {line.problem or 'JSON, but no object'}; kept as text")
        return Piece(line.text, None)
    return piece(line.value, id=file.stem)


def database_sessions(database: Database, where: str, problems: Problems) -> Iterator[Stored]:
    """The sessions of a database, oldest first. Raises `DatabaseProblem` or `sqlite3.Error`."""
    columns = {table: database.columns(table) for table in ("session", "message", "part")}
    required = {
        "session": "id time_created",
        "message": "id session_id data time_created",
        "part": "id message_id data",
    }
    for table, names in required.items():
        if missing := set(names.split()) - columns[table]:
            raise DatabaseProblem(f"table {table} lacks {', '.join(sorted(missing))}")
    is_newer = {"session_id"} <= database.columns("session_message")
    ids = [text(id) for (id,) in database.rows("SELECT id FROM session ORDER BY time_created, id")]
    for native_id in ids:
        stored = Stored(native_id, _session_row(database, sorted(columns["session"]), native_id))
        _add_messages(database, stored, where, problems)
        if is_newer and not stored.messages:
            _tell_newer(database, native_id, where, problems)
        yield stored


def _tell_newer(database: Database, native_id: str, where: str, problems: Problems) -> None:
    (number,) = next(database.rows("SELECT count(*) FROM session_message WHERE session_id = ?", native_id))
    if number:
        problems(f"{where}: session {native_id} has {number} records in a newer form, session_message; not read")


def _session_row(database: Database, names: list[str], native_id: str) -> Piece:
    """The row as an export has it."""
    names = [name for name in names if name.isidentifier()]
    columns = ", ".join(bounded(name) for name in names)
    row = next(database.rows(f"SELECT {columns} FROM session WHERE id = ?", native_id), None)
    if row is None:
        return Piece("", None)
    values: Data = {name: _plain(value) for name, value in zip(names, row[2::3], strict=True)}
    values["id"] = native_id
    for ours, theirs in (("parent_id", "parentID"), ("project_id", "projectID")):
        values[theirs] = values.pop(ours, None)
    values["time"] = {"created": values.get("time_created"), "updated": values.get("time_updated")}
    values["revert"] = _decoded(values.get("revert"))
    return piece({key: value for key, value in values.items() if value is not None})


def _add_messages(database: Database, stored: Stored, where: str, problems: Problems) -> None:
    data = bounded("data")
    parts: defaultdict[str, list[Piece]] = defaultdict(list)
    query = (
        f"SELECT part.id, message_id, {data} FROM part "
        "WHERE message_id IN (SELECT id FROM message WHERE session_id = ?) ORDER BY part.id"
    )
    for id, message_id, kind, length, value in database.rows(query, stored.id):
        place = f"{where}: part {text(id)}"
        parts[text(message_id)].append(
            _data(place, kind, length, value, problems, id=text(id), messageID=text(message_id), sessionID=stored.id)
        )
    query = f"SELECT id, {data} FROM message WHERE session_id = ? ORDER BY time_created, id"
    for id, kind, length, value in database.rows(query, stored.id):
        place = f"{where}: message {text(id)}"
        message = _data(place, kind, length, value, problems, id=text(id), sessionID=stored.id)
        stored.messages.append((message, parts.pop(text(id), [])))


def _data(where: str, kind: bytes, length: int, value: Any, problems: Problems, **ids: str) -> Piece:
    if value is None and length is not None:
        problems(f"{where}: longer than {LONGEST_LINE:,} bytes; left out")
        return Piece("", None)
    if not isinstance(value, bytes):
        problems(f"{where}: {text(kind)} instead of text; left out")
        return Piece("", None)
    try:
        decoded = decode(value, LIMITS)
        if isinstance(decoded, dict):
            return piece(decoded, **ids)
        what = "JSON, but no object"
    except ValueError as error:
        what = str(error).partition("\n")[0][:200]
    problems(f"{where}: {what}; kept as text")
    return Piece(text(value), None)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return text(value) if isinstance(value, bytes) else value


def _decoded(value: Any) -> Any:
    """A column that holds JSON; None where it does not."""
    try:
        return decode(value, LIMITS) if isinstance(value, str) else None
    except ValueError:
        return None
