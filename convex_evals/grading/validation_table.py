"""A validation for people: an eval a line, the whole at the end."""

from __future__ import annotations

from convex_evals.grading.validation import Validation
from convex_evals.grading.validation_rows import KINDS, EvalRow
from convex_evals.render.results import table

# In the order of KINDS.
_HEADER = ["eval", "answer", "killed/wrong", "passed/accept", "foils", "seconds", "slowest grader"]


def validation_table(validation: Validation) -> str:
    """As text in columns."""
    rows = [*validation.rows(), EvalRow("all", validation.results)]
    return table(_HEADER, [row_cells(row) for row in rows])


def row_cells(row: EvalRow) -> list[str]:
    """A row of the table, in the order of its header."""
    answer, *counts = (f"{row.good(kind)}/{row.total(kind)}" for kind in KINDS)
    if row.total("answer") == 1:
        answer = "passed" if row.good("answer") else "OFF"
    return [row.name, answer, *counts, f"{row.seconds:.1f}", f"{row.slowest:.1f}"]
