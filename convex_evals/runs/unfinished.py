"""Runs that are not complete, and what resumes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.errors import UserError
from convex_evals.render.model import Column, Section, Table
from convex_evals.runs.options import RunOptions, resume
from convex_evals.runs.status import Status
from convex_evals.store.run import Run, open_run
from convex_evals.store.runs import RunStore
from convex_evals.text import and_more

_COLUMNS = (
    Column("run_id", "not complete either", is_id=True),
    Column("date", "date", spare=1),
    Column("model", "model", is_id=True),
    Column("experiment", "experiment"),
    Column(None, "evals done", right=True),
    Column("written", None),
    Column("planned", None),
    Column("state", "state"),
)


@dataclass(frozen=True)
class Unfinished:
    """Those beside the run that is shown, newest first."""

    runs: Sequence[Status]
    problems: Sequence[str] = ()  # of runs of which nothing can be said, a line each

    def to_section(self) -> Section:
        table = [Table.of(_COLUMNS, [_row(s) for s in self.runs])] if self.runs else []
        lines = [f"Resume: {command}" for command in resume_commands([s.run for s in self.runs if s.command])]
        obstacles = [s.obstacle for s in self.runs]
        return Section.of(*table, *lines, *obstacles, *(f"Not shown: {problem}" for problem in self.problems))

    def to_data(self) -> list[dict[str, Any]]:
        return [status.to_data() for status in self.runs]


def newest_and_unfinished(store: RunStore, look: Callable[[Run], Status]) -> tuple[Status, Unfinished]:
    """What `look` says of the newest run that can be read, and of all others that are not complete.

    Raises `UserError` where there is no run, or none that can be read.
    """
    newest: Status | None = None
    others, problems = [], []
    for folder in store.folders():
        try:
            run = open_run(folder)
            if newest is None:
                newest = look(run)
            elif not run.is_complete:
                others.append(look(run))
        except UserError as error:
            problems.append(str(error))
    if newest is None:
        raise UserError(problems[0] + and_more(len(problems) - 1, "more like it")) if problems else store.no_runs()
    return newest, Unfinished(others, problems)


def resume_commands(runs: Sequence[Run]) -> list[str]:
    """What completes all of `runs`: one command, and one more for each that replays recorded replies."""
    own = [resume(run.plan) for run in runs]
    together = tuple(name for options in own if not options.models for name in options.runs)
    return [
        *([RunOptions(runs=together, sessions=own[0].sessions).command()] if together else []),
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
