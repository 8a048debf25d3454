"""The summary of a run that several processes did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from convex_evals.errors import ExitCode, UserError
from convex_evals.records import Summary
from convex_evals.runs.finished import Finished, incomplete_line
from convex_evals.runs.options import resume
from convex_evals.runs.pending import pending_line
from convex_evals.store.batches import BatchFolder
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


@dataclass(frozen=True)
class Finishing:
    """What came of finishing several runs."""

    finished: tuple[tuple[Run, Summary], ...]
    pending: tuple[tuple[Run, int], ...]  # runs whose batches go on, and trials that wait for them
    errors: tuple[str, ...]  # why runs have no summary, a line for each

    @property
    def complaints(self) -> list[tuple[str, str]]:
        """What to tell of what is not there: pairs of a kind and one line."""
        return [
            *(("error", line) for line in self.errors),
            *(("pending", pending_line(run, trials)) for run, trials in self.pending),
            *([("incomplete", self.incomplete)] if self.incomplete else []),
        ]

    @property
    def exit_code(self) -> ExitCode:
        if self.errors:
            return ExitCode.USER_ERROR
        return ExitCode.INCOMPLETE if self.incomplete else ExitCode.OK

    @cached_property
    def incomplete(self) -> str | None:
        """Say how many trials of the runs with a summary have no verdict, and why."""
        waiting = {run.folder: trials for run, trials in self.pending}
        return incomplete_line(
            Finished(
                run, summary, tuple(run.plan.evals), pending=waiting.get(run.folder, 0), why_absent="not delivered"
            )
            for run, summary in self.finished
        )

    @property
    def without_results(self) -> list[Run]:
        """The runs of which nothing is there but batches that go on."""
        written = {run.folder for run, _ in self.finished}
        return [run for run, _ in self.pending if run.folder not in written]


def finish_runs(runs: Iterable[Run], journal_dir: Path) -> Finishing:
    """Write the summary of each of `runs` that has results."""
    finished, pending, errors = [], [], []
    for run in runs:
        trials = BatchFolder(run).pending()
        if trials:
            pending.append((run, trials))
        if trials and not any(map(run.is_written, run.plan.evals)):
            continue
        try:
            finished.append((run, finish_run(run, journal_dir)))
        except UserError as error:
            errors.append(str(error))
    return Finishing(tuple(finished), tuple(pending), tuple(errors))
