"""Parquet for Hugging Face's `datasets`: a row a session, its messages as a list, as chat templates take them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from convex_evals.render.parquet import write_parquet
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.message import Message

_TEXTS = ("id", "title", "tool", "model", "status", "expected_output")
_MESSAGE = ("role", "content", "parts", "thinking", "tool_calls", "tool_call_id", "name", "time")


def write(sessions: Iterable[LabelledSession]) -> Iterator[bytes]:
    """Raises `UserError` where pyarrow is not installed."""
    return write_parquet(map(_row, sessions), _schema)


def _schema(arrow: Any) -> Any:
    text = arrow.string()
    message = arrow.struct([(name, text) for name in _MESSAGE])
    fields = [(name, text) for name in _TEXTS]
    return arrow.schema([*fields, ("tags", arrow.list_(text)), ("messages", arrow.list_(message))])


def _row(labelled: LabelledSession) -> dict[str, Any]:
    session, label = labelled.session, labelled.label
    return {
        "id": session.id,
        "title": session.title,
        "tool": session.tool,
        "model": session.models[-1] if session.models else None,
        "status": label.evalStatus.value,
        "expected_output": label.expectedOutput,
        "tags": list(label.evalTags),
        "messages": [_message(message) for message in labelled.read_messages()],
    }


def _message(message: Message) -> dict[str, str | None]:
    """Calls, and content that is not one text, are JSON: their shapes differ, and a column has one."""
    calls = [call.to_data() for call in message.tool_calls]
    return {
        "role": message.role,
        "content": message.text,
        "parts": _json(message.content) if isinstance(message.content, list) else None,
        "thinking": message.thinking,
        "tool_calls": _json(calls) if calls else None,
        "tool_call_id": message.tool_call_id,
        "name": message.name,
        "time": message.time,
    }


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
