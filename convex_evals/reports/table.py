"""The failures of several reports as one table."""

from __future__ import annotations

from collections.abc import Sequence

from convex_evals.render.model import Column, Row, Table
from convex_evals.reports.model import Failure, Report

_COLUMNS = (
    *("run_id", "date", "model", "experiment", "eval", "failed_trials", "trials"),
    *("step", "signature", "headline", "classification", "decided", "by", "reason"),
)


def failures_table(reports: Sequence[Report]) -> Table:
    """One row for each failure, with its classification: what a person decided, else what is proposed."""
    return Table.of([Column(name, None) for name in _COLUMNS], [_row(r, f) for r in reports for f in r.failures])


def _row(report: Report, failure: Failure) -> Row:
    judgement = failure.judgement
    return [
        *(report.run_id, report.date, report.model, report.experiment),
        *(failure.eval, len(failure.trials), failure.of_trials),
        *(failure.step, failure.signature.key, failure.headline),
        *(judgement.classification.value, judgement.decided, judgement.by, judgement.reason),
    ]
