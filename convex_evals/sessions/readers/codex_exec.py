"""What `codex exec --json` prints: items of one run, without the request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import DETAIL, MESSAGE, REPEATED, UNKNOWN, Conversation, RecordCount, session_id
from convex_evals.sessions.message import Part
from convex_evals.sessions.readers.anthropic_blocks import compact, joined
from convex_evals.sessions.readers.codex_items import difference, parts_of, texts_of, usage_of
from convex_evals.sessions.readers.codex_messages import CodexMessages
from convex_evals.sessions.readers.log_records import LogRecord, Teller
from convex_evals.sessions.readers.values import Data, as_list, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "codex"
_ITEMS = ("item.started", "item.updated", "item.completed")
_DETAILS = frozenset(
    ("thread.started", "turn.started", "turn.failed", "item.plan.delta", "request_user_input", "error")
)
# Kinds of items that are calls: names of the tools, and which keys of the item are arguments.
_TOOLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "command_execution": ("shell", ("command",)),
    "file_change": ("apply_patch", ("changes",)),
    "mcp_tool_call": ("mcp", ("arguments",)),
    "collab_tool_call": ("collab", ("prompt", "receiver_thread_ids")),
    "web_search": ("web_search", ("query", "action")),
    "todo_list": ("update_plan", ("items",)),
}
Call = tuple[str, str]


def is_stream(records: Sequence[LogRecord]) -> bool:
    """Whether this is of `codex exec` and no rollout."""
    return any(record.kind == "thread.started" or record.kind in _ITEMS for record in records[:20])


def conversation(file: Path, records: Sequence[LogRecord], teller: Teller) -> Conversation:
    return _Reader(file, records, teller).conversation()


class _Reader:
    def __init__(self, file: Path, records: Sequence[LogRecord], teller: Teller) -> None:
        self._file = file
        self._records = records
        self._teller = teller
        self._messages = CodexMessages()
        self._completed = {_item_id(record) for record in records if record.kind == "item.completed"} - {None}
        self._seen: set[str] = set()
        self._totals: Usage | None = None

    def conversation(self) -> Conversation:
        count = RecordCount()
        for at, record in enumerate(self._records):
            fate = record.fault or self._take(record, at)
            if fate == UNKNOWN:
                count.count_unknown(_name(record))
            else:
                count.count(fate)
        threads = (as_text(each.value.get("thread_id")) for each in self._records if each.kind == "thread.started")
        native_id = next((thread for thread in threads if thread), self._file.stem)
        raw = [record.text for record in self._records]
        return Conversation(NAME, native_id, self._messages.all(), raw, count)

    def _take(self, record: LogRecord, at: int) -> str:
        if record.kind == "turn.completed":
            return self._tokens(record.value.get("usage"))
        if record.kind not in _ITEMS:
            return DETAIL if record.kind in _DETAILS else UNKNOWN
        name = _item_id(record)
        is_over = record.kind == "item.completed"
        if name and (name in self._seen or (not is_over and name in self._completed)):
            return REPEATED
        self._seen.update((name,) if name else ())
        return self._item(record, as_object(record.value.get("item")), at)

    def _tokens(self, usage: Any) -> str:
        """Tokens of the thread until here."""
        totals = usage_of(usage)
        last = difference(totals, self._totals) if totals else None
        self._totals = totals or self._totals
        if last:
            self._messages.usage(last)
        self._messages.close()
        return DETAIL

    def _item(self, record: LogRecord, item: Data, at: int) -> str:
        kind, time = _kind(item), timestamp(record.value.get("timestamp"))
        texts = texts_of(item.get("text"))
        parts: list[Part] = [{"type": "text", "text": text} for text in texts]
        if kind in ("agent_message", "assistant_message", "plan", "reasoning", "user_message"):
            if not texts:
                return DETAIL
            if kind == "user_message":
                self._messages.user(parts, time, at)
            elif kind == "reasoning":
                self._messages.reply(time, at, None).thinking += texts
            else:
                if self._has_calls():  # a model says what it has to say before it calls a tool
                    self._messages.close()
                self._messages.reply(time, at, None).parts += parts
            return MESSAGE
        if kind in _TOOLS:
            return self._call(record, item, at)
        return DETAIL if kind == "error" else UNKNOWN

    def _has_calls(self) -> bool:
        last = self._messages.last_reply()
        return last is not None and bool(last.calls)

    def _call(self, record: LogRecord, item: Data, at: int) -> str:
        time = timestamp(record.value.get("timestamp"))
        reply = self._messages.reply(time, at, None)
        self._messages.call(reply, as_text(item.get("id")), *_call_of(item))
        call = next(reversed(reply.calls))
        content = self._output(record, item)
        if content is not None:
            self._messages.result(call, content, _has_failed(item), time, at)
        threads = [each for each in as_list(item.get("receiver_thread_ids")) if as_text(each)]
        if item.get("tool") == "spawn_agent" and len(threads) == 1:
            self._messages.results.agents[call] = session_id(NAME, threads[0])
        return MESSAGE

    def _output(self, record: LogRecord, item: Data) -> str | list[Part] | None:
        """What a tool answered; None where there is nothing yet, or it is not told."""
        error = as_text(as_object(item.get("error")).get("message"))
        if error or _kind(item) in ("web_search", "todo_list") or item.get("status") == "in_progress":
            return error
        if _kind(item) == "command_execution":
            return as_text(item.get("aggregated_output")) or ""
        if _kind(item) == "collab_tool_call":
            return compact(item.get("agents_states"))
        if _kind(item) == "mcp_tool_call":
            content = as_object(item.get("result")).get("content")
            parts = parts_of(content, lambda kind: self._teller.block(record, kind))
            return compact(item.get("result")) if parts is None else joined(parts)
        return as_text(item.get("status")) or ""


def _call_of(item: Data) -> Call:
    name, keys = _TOOLS[_kind(item)]
    tool = as_text(item.get("tool"))
    if _kind(item) == "mcp_tool_call":
        name = f"mcp__{as_text(item.get('server')) or 'server'}__{tool or 'tool'}"
        return name, compact(item.get("arguments"))
    return tool or name, compact({key: item[key] for key in keys if key in item})


def _has_failed(item: Data) -> bool:
    code = item.get("exit_code")
    return item.get("status") in ("failed", "declined") or (isinstance(code, int) and code != 0)


def _kind(item: Data) -> str:
    return str(item.get("type") or item.get("item_type"))


def _name(record: LogRecord) -> str:
    return f"{record.kind}:{_kind(as_object(record.value.get('item')))}" if record.kind in _ITEMS else record.kind


def _item_id(record: LogRecord) -> str | None:
    return as_text(as_object(record.value.get("item")).get("id"))
