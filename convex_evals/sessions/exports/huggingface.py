"""Parquet for Hugging Face's `datasets`: a row a session, its messages as a list, as chat templates take them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from convex_evals.errors import UserError
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.message import Message
from convex_evals.text import well_formed

# A row group is held in memory.
_MOST_ROWS = 500
_MOST_CHARACTERS = 16 * 1024 * 1024
_TEXTS = ("id", "title", "tool", "model", "status", "expected_output")
_MESSAGE = ("role", "content", "parts", "thinking", "tool_calls", "tool_call_id", "name", "time")


class _Sink:
    """Takes what pyarrow writes until it is passed on."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None: ...

    def close(self) -> None: ...

    def taken(self) -> bytes:
        data, self._pieces = b"".join(self._pieces), []
        return data


def write(sessions: Iterable[LabelledSession]) -> Iterator[bytes]:
    """Raises `UserError` where pyarrow is not installed."""
    arrow, parquet = _pyarrow()
    schema, sink = _schema(arrow), _Sink()
    with parquet.ParquetWriter(arrow.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        for rows in _groups(sessions):
            writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            yield sink.taken()
    yield sink.taken()


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UserError("Parquet needs pyarrow: pip install 'convex-evals[parquet]'") from None


def _schema(arrow: Any) -> Any:
    text = arrow.string()
    message = arrow.struct([(name, text) for name in _MESSAGE])
    fields = [(name, text) for name in _TEXTS]
    return arrow.schema([*fields, ("tags", arrow.list_(text)), ("messages", arrow.list_(message))])


def _groups(sessions: Iterable[LabelledSession]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    size = 0
    for session in sessions:
        row = _row(session)
        rows.append(row)
        size += sum(len(value) for message in row["messages"] for value in message.values() if value)
        if len(rows) >= _MOST_ROWS or size >= _MOST_CHARACTERS:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _row(labelled: LabelledSession) -> dict[str, Any]:
    session, label = labelled.session, labelled.label
    return {
        "id": session.id,
        "title": _text(session.title),
        "tool": _text(session.tool),
        "model": _text(session.models[-1]) if session.models else None,
        "status": label.evalStatus.value,
        "expected_output": _text(label.expectedOutput),
        "tags": list(label.evalTags),
        "messages": [_message(message) for message in labelled.read_messages()],
    }


def _message(message: Message) -> dict[str, str | None]:
    """Calls, and content that is not one text, are JSON: their shapes differ, and a column has one."""
    calls = [call.to_data() for call in message.tool_calls]
    values = {
        "role": message.role,
        "content": message.text,
        "parts": _json(message.content) if isinstance(message.content, list) else None,
        "thinking": message.thinking,
        "tool_calls": _json(calls) if calls else None,
        "tool_call_id": message.tool_call_id,
        "name": message.name,
        "time": message.time,
    }
    return {key: _text(value) for key, value in values.items()}


def _text(value: str | None) -> str | None:
    return None if value is None else well_formed(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
