"""Records of JSON, one a line, with the place where each stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.inputs.bounded_json import decode
from convex_evals.sessions.conversation import OTHER_BRANCH, REPEATED, UNKNOWN, UNREADABLE, Problems, RecordCount
from convex_evals.sessions.lines import LARGEST_FILE, LIMITS, FileLine, json_lines
from convex_evals.sessions.readers.values import Data, as_object, piece

# JSON can hold halves of characters, that no file can.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One line. Where it is not an object, `value` is empty and `fault` says what becomes of it."""

    file: Path
    number: int
    text: str
    value: Data
    fault: str | None = None

    @property
    def kind(self) -> str:
        return str(self.value.get("type"))

    def text_at(self, key: str) -> str | None:
        """The text under `key`; None where it is empty or of another kind."""
        value = self.value.get(key)
        return value if isinstance(value, str) and value else None


class Teller:
    """Tells of each kind of block once that is not known."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        self._told: set[str] = set()

    def block(self, record: LogRecord, kind: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            self.problems(f"{record.file}:{record.number}: a block of unknown kind {kind[:60]!r}; kept as it is")


def read_records(file: Path, problems: Problems) -> list[LogRecord]:
    """All lines of `file`; what cannot be read is told, and is among them."""
    records: list[LogRecord] = []
    try:
        if file.stat().st_size > LARGEST_FILE:
            problems(f"{file}:1: larger than {LARGEST_FILE:,} bytes; skipped")
            return records
        for line in map(_without_padding, json_lines(file)):
            if line.problem:
                problems(f"{file}:{line.number}: {line.problem}; {'kept as text' if line.text else 'left out'}")
                records.append(LogRecord(file, line.number, line.text, {}, UNREADABLE))
                continue
            value = piece(line.value).value if _HALF.search(line.text) else line.value
            fault = None if isinstance(value, dict) else UNKNOWN
            records.append(LogRecord(file, line.number, line.text, as_object(value), fault))
    except OSError as error:
        became = "the rest is skipped" if records else "skipped"
        problems(f"{file}: cannot be read: {error.strerror or error}; {became}")
    return records


def _without_padding(line: FileLine) -> FileLine:
    """A line without the zero bytes that a crash can leave in front of it."""
    if not line.problem or not line.text.startswith("\0"):
        return line
    try:
        return FileLine(line.number, line.text, decode(line.text.lstrip("\0"), LIMITS))
    except ValueError:
        return line


def count_faults(records: Sequence[LogRecord], count: RecordCount) -> list[LogRecord]:
    """Count the records that are no objects. Returns the others."""
    for record in records:
        if record.fault == UNREADABLE:
            count.count(UNREADABLE)
        elif record.fault:
            count.count_unknown("(no object)")
    return [record for record in records if not record.fault]


def on_path(
    records: Sequence[LogRecord], path: set[str], id_of: Callable[[LogRecord], str | None], count: RecordCount
) -> Iterator[LogRecord]:
    """The records of the conversation: those on `path`, each once, and those without an id. The others are counted."""
    seen: set[str] = set()
    for record in records:
        name = id_of(record)
        if name in seen:
            count.count(REPEATED)
        elif name and name not in path:
            count.count(OTHER_BRANCH)
        else:
            yield record
        seen.update((name,) if name else ())


def count_fate(record: LogRecord, fate: str | None, count: RecordCount) -> None:
    """Count what became of a record of a known kind; None means that it had no content that could be read."""
    if fate is None:
        count.count_unknown(f"{record.kind} without content")
    else:
        count.count(fate)
