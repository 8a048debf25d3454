"""A validation as a table: an eval a line, the whole at the end, as `all`."""

from __future__ import annotations

from convex_evals.grading.validation import Validation
from convex_evals.grading.validation_rows import KINDS, EvalRow
from convex_evals.render.model import Cell, Column, Row, Table

# In the order of KINDS.
_HEADINGS = ("answer", "killed/wrong", "passed/accept", "foils")
_COLUMNS = (
    Column("eval", "eval", is_id=True),
    *(
        column
        for kind, heading in zip(KINDS, _HEADINGS, strict=True)
        for column in (Column(None, heading, right=True), Column(f"{kind}_good", None), Column(f"{kind}_total", None))
    ),
    Column("duration_ms", "seconds", right=True),
    Column("slowest_grader_ms", "slowest grader", right=True),
)


def validation_table(validation: Validation) -> Table:
    """Machines get the counts one by one, and milliseconds."""
    rows = [*validation.rows(), EvalRow("all", validation.results)]
    return Table.of(_COLUMNS, [_cells(row) for row in rows])


def _cells(row: EvalRow) -> Row:
    counts = [cell for kind in KINDS for cell in (_shown(row, kind), row.good(kind), row.total(kind))]
    times = [Cell(f"{seconds:.1f}", round(seconds * 1000)) for seconds in (row.seconds, row.slowest)]
    return [row.name, *counts, *times]


def _shown(row: EvalRow, kind: str) -> str:
    if kind == "answer" and row.total(kind) == 1:
        return "passed" if row.good(kind) else "OFF"
    return f"{row.good(kind)}/{row.total(kind)}"
