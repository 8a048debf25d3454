"""Parquet: a row for each trial, with its reply and the grader's tests beside what CSV has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from convex_evals.exports.columns import COLUMNS
from convex_evals.exports.trials import ExportedRun, ExportedTrial
from convex_evals.render.parquet import write_parquet


def write(runs: Sequence[ExportedRun]) -> Iterator[bytes]:
    """Raises `UserError` where pyarrow is not installed."""
    return write_parquet((_row(trial) for run in runs for trial in run.trials()), _schema)


def _schema(arrow: Any) -> Any:
    text, integer = arrow.string(), arrow.int64()
    kinds = {"text": text, "integer": integer, "number": arrow.float64(), "boolean": arrow.bool_()}
    test = arrow.struct([("name", text), ("outcome", text), ("duration_ms", integer), ("message", text)])
    flat = [(column.name, kinds[column.kind]) for column in COLUMNS]
    return arrow.schema([*flat, ("reply", text), ("tests", arrow.list_(test))])


def _row(trial: ExportedTrial) -> dict[str, Any]:
    return {
        **{column.name: column.value(trial) for column in COLUMNS},
        "reply": trial.reply,
        "tests": [test.model_dump(mode="json") for test in trial.verdict.tests],
    }
