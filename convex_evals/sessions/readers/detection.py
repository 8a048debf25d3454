"""Whose conversations a file holds, told by its beginning."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.sessions.folders import is_private
from convex_evals.sessions.readers.cursor_sqlite import is_database

_HEAD = 256 * 1024  # bytes
_MOST_RECORDS = 20
_LIMITS = Limits(size=_HEAD, values=100_000, depth=200)
Record = dict[str, Any]


def detect(file: Path) -> str | None:
    """The name of a reader; None where the file is of none, holds no conversation by its name, or cannot be read."""
    try:
        if _database(file) or is_private(file):
            return _database(file) or _by_name(file)
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return None
    records = list(_records(head))
    found = next((name for name, is_of in _RECORDS for record in records if is_of(record)), None)
    return found or _by_text(file, head.decode("utf-8", "replace"))


def _database(file: Path) -> str | None:
    if file.suffix not in (".db", ".vscdb") or not is_database(file):
        return None
    return "cursor" if file.suffix == ".vscdb" else "opencode"


def _by_name(file: Path) -> str | None:
    return "aider" if file.name == ".aider.chat.history.md" else None


def _records(head: bytes) -> Iterator[Record]:
    """The objects in the first lines that are whole."""
    for line in head.split(b"\n", _MOST_RECORDS)[:_MOST_RECORDS]:
        try:
            value = decode(line, _LIMITS)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield value


def _by_text(file: Path, head: str) -> str | None:
    """Of files that are one document, or none of JSON."""
    if head.lstrip()[:1] in ("{", "["):
        return next((name for name, pattern in _DOCUMENTS if pattern.search(head)), None)
    if head.startswith("# aider chat started at"):
        return "aider"
    is_transcript = re.match(r"\s*user:\n|# .*\n_Exported on .* from Cursor", head)
    return "cursor" if is_transcript and file.suffix in (".txt", ".md") else None


def _is_claude(record: Record) -> bool:
    return "sessionId" in record and ("parentUuid" in record or "isSidechain" in record)


def _is_codex(record: Record) -> bool:
    # A record in its envelope, the head of an older rollout, what `codex exec --json` prints first.
    return (
        {"timestamp", "type", "payload"} <= record.keys()
        or {"id", "timestamp", "instructions"} <= record.keys()
        or (record.get("type") == "thread.started" and "thread_id" in record)
    )


def _is_gemini(record: Record) -> bool:
    return "projectHash" in record and "sessionId" in record


def _is_droid(record: Record) -> bool:
    return record.get("type") == "session_start" or (
        record.get("type") == "message" and isinstance(record.get("message"), dict) and "id" in record
    )


def _is_cursor(record: Record) -> bool:
    return "role" in record and isinstance(record.get("message"), dict) and "content" in record["message"]


def _is_copilot(record: Record) -> bool:
    return "." in str(record.get("type")) and isinstance(record.get("data"), dict)


def _is_opencode(record: Record) -> bool:
    return isinstance(record.get("info"), dict) and isinstance(record.get("messages"), list)


def _is_atif(record: Record) -> bool:
    return str(record.get("schema_version")).startswith("ATIF")


def _is_chat(record: Record) -> bool:
    messages = record.get("messages")
    return isinstance(messages, list) and all(isinstance(each, dict) and "role" in each for each in messages)


_RECORDS: tuple[tuple[str, Callable[[Record], bool]], ...] = (
    ("atif", _is_atif),
    ("claude-code", _is_claude),
    ("codex", _is_codex),
    ("gemini", _is_gemini),
    ("droid", _is_droid),
    ("copilot", _is_copilot),
    ("opencode", _is_opencode),
    ("cursor", _is_cursor),
    ("openai", _is_chat),
)
# Keys that stand near the beginning of a document; those of the most special form first.
_DOCUMENTS = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("atif", r'"schema_version"\s*:\s*"ATIF'),
        ("gemini", r'"projectHash"\s*:'),
        ("opencode", r'"(?:id|sessionID)"\s*:\s*"ses_'),
        ("runs", r'^\s*\{\s*"eval"\s*:\s*"[^"]*",\s*"generation_key"\s*:'),
        ("openai", r'"messages"\s*:\s*\[\s*(?:\]|\{[^{}]*"role"\s*:)|^\s*\[\s*\{[^{}]*"role"\s*:'),
    )
)
