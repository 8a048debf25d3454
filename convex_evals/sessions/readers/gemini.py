"""Gemini CLI's chats: a log of records for each session and each sub-agent; in older versions, one JSON document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from convex_evals.sessions.conversation import UNKNOWN, UNREADABLE, Conversation, Problems
from convex_evals.sessions.lines import json_file
from convex_evals.sessions.readers.gemini_log import Log
from convex_evals.sessions.readers.gemini_messages import NAME, GeminiMessages
from convex_evals.sessions.readers.log_records import LogRecord, Teller, read_records
from convex_evals.sessions.readers.values import Data, as_list, as_text, piece
from convex_evals.sessions.times import timestamp

_CHATS = "chats"
_SESSIONS = ("session-*.json", "session-*.jsonl")
# Beside the folder of chats, which are not opened even where a person names them.
_CREDENTIALS = (
    *("oauth_creds.json", "google_accounts.json", "*oauth-tokens*.json", "*credentials*.json"),
    *("settings.json", "trustedfolders.json"),
)
# Of a project's folder: logs of requests, whose names are like those of chats, and outputs of tools.
_UNRELATED = frozenset(("logs", "tool-outputs", "node_modules"))
_ROOT = ".project_root"
_LONGEST_PATH = 4096


class Gemini:
    """The reader `gemini`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return (home / ".gemini" / "tmp",)

    def files(self, place: Path) -> Iterator[Path]:
        """Chats of sessions before those of their sub-agents, which stand in a folder beside them."""
        if place.is_file():
            if not _holds_credentials(place):
                yield place
            return
        for folder, names, files in os.walk(place):
            names[:] = sorted(name for name in names if name not in _UNRELATED)
            patterns = (*_SESSIONS, "*.jsonl") if Path(folder).absolute().parent.name == _CHATS else _SESSIONS
            for name in sorted(files):
                # A document that was continued is in the log as a whole.
                is_continued = name.endswith(".json") and f"{name}l" in files
                path = Path(folder, name)
                if any(fnmatch(name, each) for each in patterns) and not is_continued and not path.is_symlink():
                    yield path

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        if _holds_credentials(file):
            problems(f"{file}: holds credentials or settings; not opened")
            return
        records = _records(file, problems)
        if records:
            yield _conversation(file, records, problems)


def _holds_credentials(file: Path) -> bool:
    return any(fnmatch(file.name.lower(), pattern) for pattern in _CREDENTIALS)


def _conversation(file: Path, records: Sequence[LogRecord], problems: Problems) -> Conversation:
    log = Log(problems)
    for record in records:
        log.take(record)
    messages = GeminiMessages(Teller(problems))
    count = log.count(messages.take)
    session = log.session
    return Conversation(
        NAME,
        as_text(session.get("sessionId")) or file.stem,
        messages.all,
        [record.text for record in records],
        count,
        title=as_text(session.get("summary")),
        folder=_project_root(file) or messages.workspace or _first_directory(session),
        parent=file.absolute().parent.name if session.get("kind") == "subagent" and _is_beside_session(file) else None,
        branches=log.branches,
        started_at=timestamp(session.get("startTime")),
    )


def _records(file: Path, problems: Problems) -> list[LogRecord]:
    try:
        return _document(file, problems) if _is_document(file) else read_records(file, problems)
    except OSError as error:
        problems(f"{file}: cannot be read: {error.strerror or error}; skipped")
        return []


def _is_document(file: Path) -> bool:
    """Also where it was given the name of a log, if it is spread over lines."""
    if file.suffix == ".json":
        return True
    with file.open("rb") as stream:
        return stream.readline(80).strip() == b"{"


def _document(file: Path, problems: Problems) -> list[LogRecord]:
    """What the document says of the session, and its messages, each as a record."""
    line = json_file(file)
    if line.problem:
        problems(f"{file}:{line.number}: {line.problem}; left out")
        return [LogRecord(file, line.number, line.text, {}, UNREADABLE)]
    if not isinstance(line.value, dict):
        problems(f"{file}:{line.number}: JSON, but no session; left out")
        return [_record(file, line.value)]
    messages = line.value.get("messages")
    if not isinstance(messages, list):
        return [_record(file, line.value)]
    session = {key: value for key, value in line.value.items() if key != "messages"}
    return [_record(file, session), *(_record(file, message) for message in messages)]


def _record(file: Path, value: object) -> LogRecord:
    found = piece(value)
    return LogRecord(file, 1, found.raw, found.value or {}, UNKNOWN if found.value is None else None)


def _first_directory(session: Data) -> str | None:
    """Of those that the session was given, the first is the one that it began in."""
    return next((as_text(directory) for directory in as_list(session.get("directories"))), None)


def _is_beside_session(file: Path) -> bool:
    return file.absolute().parent.parent.name == _CHATS


def _project_root(file: Path) -> str | None:
    """The folder that the project's chats are of, as Gemini CLI notes it beside them."""
    chats = next((folder for folder in file.absolute().parents if folder.name == _CHATS), None)
    if chats is None:
        return None
    note = chats.parent / _ROOT
    try:
        if note.is_symlink() or not note.is_file():
            return None
        with note.open("rb") as stream:
            data = stream.read(_LONGEST_PATH + 1)
        text = data.decode().strip() if len(data) <= _LONGEST_PATH else ""
    except (OSError, ValueError):
        return None
    return text if text.isprintable() and text else None


READER = Gemini()
