"""Codex CLI: a rollout of records for each thread, the documents of its first version, and what `codex exec` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from convex_evals.sessions.conversation import UNKNOWN, Conversation, Problems
from convex_evals.sessions.folders import files_below
from convex_evals.sessions.lines import json_file
from convex_evals.sessions.readers import codex_exec, codex_rollout
from convex_evals.sessions.readers.log_records import LogRecord, Teller, read_records
from convex_evals.sessions.readers.values import as_object, piece

_FOLDERS = ("sessions", "archived_sessions")
_ROLLOUTS = ("rollout-*.jsonl", "rollout-*.json", "rollout-*.jsonl.zst")
# What Codex keeps next to its sessions: credentials, settings, all requests that were typed, and titles.
_OTHERS = frozenset(
    (
        *("auth.json", ".credentials.json", "config.toml", "config.json", "history.jsonl", "session_index.jsonl"),
        *("version.json", "models_cache.json", "internal_storage.json"),
    )
)


class Codex:
    """The reader `codex`."""

    name = codex_rollout.NAME

    def places(self, home: Path) -> Sequence[Path]:
        return tuple(home / ".codex" / folder for folder in _FOLDERS)

    def files(self, place: Path) -> Iterator[Path]:
        if place.is_file():
            if place.name not in _OTHERS:
                yield place
            return
        folders = [place / folder for folder in _FOLDERS if (place / folder).is_dir()]
        for folder in folders or [place]:
            patterns = _ROLLOUTS if folders or place.name in _FOLDERS else (*_ROLLOUTS, "*.jsonl")
            for file in files_below(folder, *patterns):
                is_unpacked = file.suffix == ".zst" and file.with_suffix("").exists()
                if file.name not in _OTHERS and not is_unpacked:
                    yield file

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        if file.name in _OTHERS:
            problems(f"{file}:1: holds no conversation; not opened")
            return
        if file.suffix == ".zst":
            problems(f"{file}:1: compressed by Codex; skipped (`zstd -d` unpacks it)")
            return
        records = _document(file, problems) if file.suffix == ".json" else read_records(file, problems)
        if not records:
            return
        read = codex_exec.conversation if codex_exec.is_stream(records) else codex_rollout.conversation
        yield read(file, records, Teller(problems))


def _document(file: Path, problems: Problems) -> list[LogRecord]:
    """The records of a document of the first version: the session, and its items. Lines are read where it is none."""
    try:
        line = json_file(file)
    except OSError as error:
        problems(f"{file}: cannot be read: {error.strerror or error}; skipped")
        return []
    document = as_object(line.value)
    if not isinstance(document.get("items"), list):
        return read_records(file, problems)
    values = [
        *({key: value} for key, value in document.items() if key not in ("session", "items")),
        *((document["session"],) if "session" in document else ()),
        *document["items"],
    ]
    return [_record(file, value) for value in values]


def _record(file: Path, value: object) -> LogRecord:
    found = piece(value)
    return LogRecord(file, 1, found.raw, found.value or {}, None if found.value is not None else UNKNOWN)


READER = Codex()
