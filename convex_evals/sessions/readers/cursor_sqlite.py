"""SQLite databases of other programs, read without writing, waiting, or trusting what is in them."""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from convex_evals.sessions.lines import LONGEST_LINE
from convex_evals.text import well_formed

_HEADER = b"SQLite format 3\0"
_STEPS_AT_ONCE = 100_000
# Of SQLite's virtual machine, for all queries of one database: some ten seconds. A row takes some twenty.
MOST_STEPS = 1_000_000_000
_LARGEST_VALUE = 8 * LONGEST_LINE  # of which even the length can be asked
_NAME = re.compile(r"\w+")
_COPIES = 3


class DatabaseProblem(Exception):
    """Why a database is not read."""


class Database:
    """An open database. All text comes as bytes; `text` decodes it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def columns(self, table: str) -> frozenset[str]:
        """The stored columns of a plain table; none where there is no table of this name.

        Raises `DatabaseProblem` where it is a view or computes its columns, so that reading it would run SQL of others.
        """
        found = self.rows(
            "SELECT type, rootpage FROM sqlite_schema WHERE name = ? AND type IN ('table', 'view')", table
        )
        kinds = list(found)
        if not kinds:
            return frozenset()
        if len(kinds) > 1 or kinds[0][0] != b"table" or not kinds[0][1]:
            raise DatabaseProblem(f"{table} is no plain table")
        rows = list(self.rows("SELECT name, hidden FROM pragma_table_xinfo(?)", table))
        if any(hidden for _, hidden in rows):
            raise DatabaseProblem(f"{table} has columns that are computed")
        return frozenset(text(name) for name, _ in rows)

    def rows(self, sql: str, *values: str | int) -> Iterator[tuple[Any, ...]]:
        """The rows of a query. Raises `sqlite3.Error`."""
        with closing(self._connection.execute(sql, values)) as cursor:
            yield from cursor


def bounded(column: str) -> str:
    """SQL for three columns: the type of `column`, its length, and its value unless that is too long to be read."""
    if not _NAME.fullmatch(column):
        raise ValueError(column)
    return (
        f"typeof({column}), length({column}), "
        f"CASE WHEN typeof({column}) IN ('text', 'blob') AND length({column}) > {LONGEST_LINE} THEN NULL "
        f"ELSE {column} END"
    )


def text(value: Any) -> str:
    """Text of a column as SQLite has it."""
    return (
        well_formed(value.decode("utf-8", "replace"))
        if isinstance(value, bytes)
        else ""
        if value is None
        else str(value)
    )


def is_database(file: Path) -> bool:
    """Whether the file begins like a database of SQLite. Raises `OSError`."""
    with file.open("rb") as stream:
        return stream.read(len(_HEADER)) == _HEADER


@contextmanager
def opened(file: Path) -> Iterator[Database]:
    """`file` as a database, nothing being written next to it.

    Raises `DatabaseProblem`, `sqlite3.Error` or `OSError`, at any time until it is left.
    """
    if not is_database(file):
        raise DatabaseProblem("not a database of SQLite")
    if _size(file, "-journal"):
        raise DatabaseProblem("in the midst of a change; close the program that writes it")
    with tempfile.TemporaryDirectory(prefix="sessions-", ignore_cleanup_errors=True) as folder:
        # What was written last may stand in the log only. To read that, SQLite makes a file of its own beside it.
        copied = _copy(file, Path(folder)) if _size(file, "-wal") else None
        uri = f"{copied.as_uri()}?mode=ro" if copied else f"{file.absolute().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(uri, uri=True, timeout=1, isolation_level=None)) as connection:
            _restrict(connection)
            yield Database(connection)


def told(error: Exception) -> str:
    """Why a database was not read, for people."""
    if isinstance(error, OSError):
        return f"cannot be read ({error.strerror})"
    if isinstance(error, sqlite3.OperationalError) and "interrupt" in str(error):
        return "takes too long to query"
    return str(error) if isinstance(error, DatabaseProblem) else f"SQLite says: {str(error)[:200]}"


def _restrict(connection: sqlite3.Connection) -> None:
    left = MOST_STEPS // _STEPS_AT_ONCE

    def is_over() -> int:
        nonlocal left
        left -= 1
        return left < 0

    connection.set_progress_handler(is_over, _STEPS_AT_ONCE)
    connection.text_factory = bytes
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST_VALUE)
    for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
        connection.execute(f"PRAGMA {setting}")


def _copy(file: Path, folder: Path) -> Path:
    """A copy of the database with its log, of one moment."""
    parts = (file, _beside(file, "-wal"))
    copied = folder / "copy.db"
    for _ in range(_COPIES):
        before = _state(parts)
        for part, target in zip(parts, (copied, _beside(copied, "-wal")), strict=True):
            shutil.copyfile(part, target)
        if _state(parts) == before:
            return copied
    raise DatabaseProblem("changes while it is read; close the program that writes it")


def _state(parts: Sequence[Path]) -> list[tuple[int, int]]:
    return [(status.st_mtime_ns, status.st_size) for status in (part.stat() for part in parts)]


def _size(file: Path, suffix: str) -> int:
    try:
        return _beside(file, suffix).stat().st_size
    except FileNotFoundError:
        return 0


def _beside(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)
