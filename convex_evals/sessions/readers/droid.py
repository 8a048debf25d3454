"""Factory Droid's sessions: a file of records each, whose messages are in Anthropic's form.

Droid records tokens only of a session as a whole, beside it, where they are of no reply and not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from convex_evals.sessions.conversation import DETAIL, Conversation, Problems, RecordCount
from convex_evals.sessions.folders import files_below
from convex_evals.sessions.lines import json_file
from convex_evals.sessions.message import ASSISTANT, SYSTEM, USER
from convex_evals.sessions.readers.anthropic_blocks import answered, called, divided, parsed
from convex_evals.sessions.readers.anthropic_messages import AnthropicMessages
from convex_evals.sessions.readers.claude_tree import TreeNode, chosen
from convex_evals.sessions.readers.log_records import (
    LogRecord,
    Teller,
    count_fate,
    count_faults,
    on_path,
    read_records,
)
from convex_evals.sessions.readers.values import Data, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "droid"
_DETAILS = frozenset(("agent_turn_outcome", "session_end", "session_settings", "session_start", "todo_state"))
_LARGEST_SETTINGS = 1024 * 1024


class Droid:
    """The reader `droid`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return (home / ".factory" / "sessions",)

    def files(self, place: Path) -> Iterator[Path]:
        sessions = place / "sessions"  # next to it are settings, credentials and logs
        yield from files_below(sessions if sessions.is_dir() else place, "*.jsonl")

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        records = read_records(file, problems)
        if records:
            yield _Reader(file, records, Teller(problems)).conversation()


class _Reader:
    def __init__(self, file: Path, records: Sequence[LogRecord], teller: Teller) -> None:
        self._file = file
        self._raw = [record.text for record in records]
        self._teller = teller
        self._messages = AnthropicMessages()
        self._count = RecordCount()
        self._records = count_faults(records, self._count)
        self._path, self._branches = chosen(_nodes(self._records))
        self._model = None if any(map(_model, self._records)) else _last_model(file)

    def conversation(self) -> Conversation:
        for record in on_path(self._records, self._path, _id_of, self._count):
            self._take(record)
        start = next((each.value for each in self._records if each.kind == "session_start"), {})
        return Conversation(
            NAME,
            as_text(start.get("id")) or self._file.stem,
            self._messages.all(),
            self._raw,
            self._count,
            title=as_text(start.get("sessionTitle")) or as_text(start.get("title")),
            tool_version=as_text(start.get("version")),  # a number is of the format
            folder=as_text(start.get("cwd")),
            parent=as_text(start.get("callingSessionId")),
            branches=self._branches,
            started_at=timestamp(start.get("timestamp")),
        )

    def _take(self, record: LogRecord) -> None:
        fate: str | None = DETAIL
        if record.kind == "message":
            role = _message(record).get("role")
            if role not in (USER, ASSISTANT, SYSTEM):
                self._count.count_unknown(f"message of role {role}")
                return
            fate = self._take_message(record, role)
        elif record.kind == "compaction_state":
            fate = self._user(record, record.value.get("summaryText", ""), True)
        elif record.kind not in _DETAILS:
            self._count.count_unknown(record.kind)
            return
        count_fate(record, fate, self._count)

    def _take_message(self, record: LogRecord, role: str) -> str | None:
        content = _message(record).get("content")
        if role == USER:
            return self._user(record, content, _is_added(record))
        time = timestamp(record.value.get("timestamp"))
        if role == SYSTEM:
            return self._messages.system(content, time, lambda kind: self._teller.block(record, kind))
        return self._messages.assistant(
            content,
            time,
            lambda kind: self._teller.block(record, kind),
            (self._file, record.number),
            _model(record) or self._model,
            thinking=as_text(_message(record).get("openaiReasoningSummary")),
        )

    def _user(self, record: LogRecord, content: object, injected: bool) -> str | None:
        time = timestamp(record.value.get("timestamp"))
        return self._messages.user(content, time, lambda kind: self._teller.block(record, kind), injected)


def _id_of(record: LogRecord) -> str | None:
    """The id of a message; other records are in no tree."""
    return record.text_at("id") if record.kind == "message" else None


def _message(record: LogRecord) -> Data:
    return as_object(record.value.get("message"))


def _model(record: LogRecord) -> str | None:
    message = _message(record)
    return as_text(message.get("modelId")) or as_text(message.get("model"))


def _last_model(file: Path) -> str | None:
    """The model that the session had last, from what Droid keeps beside it: older records do not say theirs."""
    settings = file.with_suffix(".settings.json")
    try:
        if settings.is_symlink() or settings.stat().st_size > _LARGEST_SETTINGS:
            return None
        return as_text(as_object(json_file(settings).value).get("model"))
    except OSError:
        return None


def _is_added(record: LogRecord) -> bool:
    """Whether it is context for the model alone, a notice to the person, or no person's request."""
    message = _message(record)
    return (
        message.get("visibility") in ("llm_only", "user_only")
        or message.get("userMessageSource") == "automation"
        or as_text(message.get("hookEventName")) is not None
    )


def _nodes(records: Sequence[LogRecord]) -> list[TreeNode]:
    nodes: dict[str, TreeNode] = {}
    for record in records:
        name = _id_of(record)
        if name and name not in nodes:
            nodes[name] = _node(name, record)
    return list(nodes.values())


def _node(name: str, record: LogRecord) -> TreeNode:
    parent = record.text_at("parentId")
    content = _message(record).get("content")
    answers = answered(content)
    is_said = _message(record).get("role") == ASSISTANT
    if not is_said and not answers and not _is_added(record):
        found = parsed(content)
        is_said = found is not None and bool(divided(found.parts)[1])
    return TreeNode(name, (parent,) if parent else (), is_said=is_said, calls=called(content), answers=answers)


READER = Droid()
