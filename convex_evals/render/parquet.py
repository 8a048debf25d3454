"""Parquet, in pieces. pyarrow is an extra of the package, and imported when it is needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from convex_evals.errors import UserError
from convex_evals.text import well_formed

# A row group is held in memory.
_MOST_ROWS = 500
_MOST_CHARACTERS = 16 * 1024 * 1024


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


def write_parquet(rows: Iterable[dict[str, Any]], schema: Callable[[Any], Any]) -> Iterator[bytes]:
    """Yield a file with these rows, by column; `schema` makes pyarrow's schema, given that module.

    Text is made well-formed. Raises `UserError` where pyarrow is not installed.
    """
    try:
        arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise UserError("Parquet needs pyarrow: pip install 'convex-evals[parquet]'") from None
    columns, sink = schema(arrow), _Sink()
    with parquet.ParquetWriter(arrow.PythonFile(sink, mode="w"), columns, compression="zstd") as writer:
        for group in _groups(rows):
            writer.write_table(arrow.Table.from_pylist(group, schema=columns))
            yield sink.taken()
    yield sink.taken()


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        group.append(_well_formed(row))
        size += _size(row)
        if len(group) >= _MOST_ROWS or size >= _MOST_CHARACTERS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _well_formed(value: Any) -> Any:
    """With all text in it such that UTF-8 can hold it."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, list):
        return [_well_formed(each) for each in value]
    if isinstance(value, dict):
        return {key: _well_formed(each) for key, each in value.items()}
    return value


def _size(value: Any) -> int:
    """In characters."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(map(_size, value))
    return sum(map(_size, value.values())) if isinstance(value, dict) else 0
