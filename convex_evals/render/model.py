"""What a command found, as tables in sections: the one model behind terminal, Markdown, JSON and CSV. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

Value = str | int | float | bool | tuple[str, ...] | None


class Tone(Enum):
    """How a cell is meant. Terminals colour it; nothing else tells."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "unsure"


@dataclass(frozen=True)
class Column:
    """One column. Without a heading it is for machines alone, without a key for people alone."""

    key: str | None  # in JSON and CSV
    heading: str | None  # on terminals and in Markdown
    right: bool = False  # right-aligned, as numbers are
    is_id: bool = False  # of names that are copied into commands; Markdown sets them as code
    # Where a terminal is too narrow, the columns of the highest number are left out first; those of 0 never are.
    spare: int = 0


@dataclass(frozen=True)
class Cell:
    """What people read, and what machines do."""

    text: str
    value: Value
    tone: Tone | None = None


# A bare value is shown as it is: nothing for None, words joined by blanks.
Row = Sequence[Cell | Value]


@dataclass(frozen=True)
class Table:
    """Rows of as many cells as there are columns. Where no column has a heading, machines alone get the table."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), "a row is as long as the columns are many"

    @property
    def shown(self) -> list[int]:
        """The columns for people, by their numbers."""
        return [i for i, column in enumerate(self.columns) if column.heading is not None]

    def for_machines(self) -> Table:
        """The same, which people do not see."""
        return Table(tuple(Column(column.key, None) for column in self.columns), self.rows)

    def if_any(self) -> Table:
        """The same, which people see only if it has rows; machines get its header all the same."""
        return self if self.rows else self.for_machines()

    @staticmethod
    def of(columns: Sequence[Column], rows: Sequence[Row]) -> Table:
        return Table(tuple(columns), tuple(tuple(map(as_cell, row)) for row in rows))


@dataclass(frozen=True)
class Section:
    """Lines, tables and further sections, below each other; further sections stand apart, by an empty line.

    Lines are for people alone.
    """

    parts: tuple[str | Table | Section, ...]
    heading: str = ""

    @property
    def shown(self) -> list[str | Table | Section]:
        """The parts for people."""
        return [part for part in self.parts if not isinstance(part, Table) or part.shown]

    @staticmethod
    def of(*parts: str | Table | Section | None, heading: str = "") -> Section:
        """Without the parts that are None, or empty text."""
        return Section(tuple(part for part in parts if part is not None and part != ""), heading)


def text_columns(headings: Sequence[str], left: Collection[int] = (0,)) -> list[Column]:
    """Columns that machines get as people do, by the words of their headings; all but those of `left` right-aligned."""
    keys = [re.sub("[^a-z]+", "_", heading.lower()).strip("_") for heading in headings]
    return [Column(key, heading, i not in left) for i, (key, heading) in enumerate(zip(keys, headings, strict=True))]


def as_cell(value: Cell | Value) -> Cell:
    if isinstance(value, Cell):
        return value
    if value is None:
        return Cell("", None)
    if isinstance(value, bool):
        return Cell("yes" if value else "no", value)
    return Cell(" ".join(value) if isinstance(value, tuple) else str(value), value)


def apart(*blocks: str | Table | Section) -> Section:
    """All of these with empty lines between them."""
    return Section(tuple(block if isinstance(block, Section) else Section((block,)) for block in blocks))


def tables(section: Section) -> Iterator[tuple[str, Table]]:
    """All tables in their order, each with the heading above it."""
    for part in section.parts:
        if isinstance(part, Table):
            yield section.heading, part
        elif isinstance(part, Section):
            yield from ((heading or section.heading, table) for heading, table in tables(part))
