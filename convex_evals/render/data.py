"""Tables for machines: JSON and CSV. Pure.

In CSV, text that a spreadsheet would take for a formula gets an apostrophe before it, and so does text that begins with
one: to read the exact text, drop one apostrophe from the beginning of a cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from convex_evals.render.model import Section, Table, Value, tables
from convex_evals.text import spelled_out

# What a spreadsheet runs, or skips to get there; see OWASP's "CSV Injection".
_FORMULA = ("=", "+", "-", "@", "\t", "\n", "'", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def records(table: Table) -> list[dict[str, Any]]:
    """The rows by the columns' keys, for JSON."""
    return [
        {
            column.key: list(cell.value) if isinstance(cell.value, tuple) else cell.value
            for column, cell in zip(table.columns, row, strict=True)
            if column.key is not None
        }
        for row in table.rows
    ]


def to_data(section: Section) -> list[dict[str, Any]]:
    """The rows of a section's one table; of several, `{"section": heading, "rows": rows}` for each."""
    found = list(tables(section))
    if len(found) == 1:
        return records(found[0][1])
    return [{"section": heading, "rows": records(table)} for heading, table in found]


def to_csv(section: Section) -> str:
    """The first table, RFC 4180 but for its line ends, with the rows of all others that have the same columns.

    Without rows it is the header; without a table, nothing.
    """
    lines: list[str] = []
    header: list[str] = []
    for _, table in tables(section):
        kept = [i for i, column in enumerate(table.columns) if column.key is not None]
        keys = [table.columns[i].key or "" for i in kept]
        if not header:
            header = keys
            lines.append(csv_row(keys))
        if keys == header:
            lines += (csv_row(row[i].value for i in kept) for row in table.rows)
    return "".join(lines)


def csv_row(values: Iterable[Value]) -> str:
    """Return a line of CSV, its end included."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow(map(_csv, values))
    return out.getvalue()


def _csv(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    return _safe(" ".join(value) if isinstance(value, tuple) else value or "")


def _safe(text: str) -> str:
    # The door would do it anyway, when the cells are put together: a carriage return would end a row for some readers.
    text = spelled_out(text)
    return f"'{text}" if text.startswith(_FORMULA) else text
