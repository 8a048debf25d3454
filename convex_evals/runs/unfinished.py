"""Runs that are not complete, and what resumes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.render.model import Column, Section, Table
from convex_evals.runs.options import RunOptions, resume
from convex_evals.runs.status import Status
from convex_evals.store.runs import Run, RunStore

_COLUMNS = (
    Column("run_id", "not complete either", is_id=True),
    Column("date", "date", right=True),
    Column("model", "model", right=True, is_id=True),
    Column("experiment", "experiment", right=True),
    Column(None, "evals done", right=True),
    Column("written", None),
    Column("planned", None),
    Column("state", "state", right=True),
)


@dataclass(frozen=True)
class Unfinished:
    """Those beside the run that is shown, newest first."""

    runs: Sequence[Status]

    def to_section(self) -> Section:
        lines = [f"Resume: {command}" for command in resume_commands([s.run for s in self.runs if not s.busy])]
        return Section.of(Table.of(_COLUMNS, [_row(s) for s in self.runs]), *lines) if self.runs else Section(())

    def to_data(self) -> list[dict[str, Any]]:
        return [status.to_data() for status in self.runs]


def unfinished_runs(store: RunStore, beside: Run) -> list[Run]:
    """Those without a summary, or with a summary of a part, newest first."""
    return [
        run
        for run in store.all()
        if run.folder != beside.folder and ((summary := run.summary()) is None or summary.missing)
    ]


def resume_commands(runs: Sequence[Run]) -> list[str]:
    """What completes all of `runs`: one command, and one more for each that replays recorded replies."""
    own = [resume(run.plan) for run in runs]
    together = tuple(name for options in own if not options.models for name in options.runs)
    return [
        *([RunOptions(runs=together).command()] if together else []),
        *(options.command() for options in own if options.models),
    ]


def _row(status: Status) -> list[str | int]:
    plan, written = status.run.plan, len(status.summary.evals)
    planned = len(plan.evals)
    return [
        *(plan.run_id, plan.date, plan.model, plan.experiment),
        *(f"{written} of {planned}", written, planned),
        status.state,
    ]
