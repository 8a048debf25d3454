"""The summary of a run that several processes did."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records import Summary
from convex_evals.runs.options import resume
from convex_evals.store.journal import Journal
from convex_evals.store.run import Run
from convex_evals.store.summary import summarize


def finish_run(run: Run, journal_dir: Path) -> Summary:
    """Write and return the totals of what is there.

    Raises `UserError` where nothing is, or where a process here is at it.
    """
    journal = Journal(journal_dir, run.plan)
    with journal.locked():
        summary = summarize(run)
        if not summary.evals:
            rest = resume(run.plan).command()
            raise UserError(f"{run.folder}: has no results yet; `git pull` what its shards pushed, or run `{rest}`")
        run.write_summary(summary)
        if not summary.missing:
            journal.drop()
    return summary


def finish_runs(runs: Iterable[Run], journal_dir: Path) -> tuple[list[tuple[Run, Summary]], list[str]]:
    """`finish_run` for each of `runs`: those that have a summary now, and why others have none."""
    finished, errors = [], []
    for run in runs:
        try:
            finished.append((run, finish_run(run, journal_dir)))
        except UserError as error:
            errors.append(str(error))
    return finished, errors
