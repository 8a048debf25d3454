"""CSV: a row for each trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from convex_evals.exports.columns import COLUMNS
from convex_evals.exports.trials import ExportedRun
from convex_evals.render.data import csv_row


def write(runs: Sequence[ExportedRun]) -> Iterator[bytes]:
    yield csv_row([column.name for column in COLUMNS]).encode()
    for run in runs:
        for trial in run.trials():
            yield csv_row([column.value(trial) for column in COLUMNS]).encode()
