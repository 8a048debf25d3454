"""Runs as other tools read them, trial by trial. The same runs make the same bytes, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from convex_evals.exports import csv_rows, deepeval, inspect_log, junit, parquet_rows
from convex_evals.exports.trials import ExportedRun

__all__ = ["EXPORTS", "RunExport"]


@dataclass(frozen=True)
class RunExport:
    """A format, and what writes it: piece by piece, with one trial's reply in memory at a time."""

    write: Callable[[Sequence[ExportedRun]], Iterator[bytes]]
    name_of: Callable[[ExportedRun], str] | None = None  # of the file, where each run is one of its own
    is_text: bool = True


EXPORTS: dict[str, RunExport] = {
    "inspect-log": RunExport(inspect_log.write, inspect_log.file_name),
    "deepeval": RunExport(deepeval.write),
    "junit": RunExport(junit.write),
    "csv": RunExport(csv_rows.write),
    "parquet": RunExport(parquet_rows.write, is_text=False),
}
