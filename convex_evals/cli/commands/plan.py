"""`cli plan`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.invocation import complete_run_options, model_options, pass_run_options, trial_options
from convex_evals.cli.options import (
    delivery_options,
    open_delivery,
    output_option,
    print_lines,
    runs_dir_option,
)
from convex_evals.render.formats import DEFAULT
from convex_evals.render.output import say

if TYPE_CHECKING:
    from convex_evals.render.model import Row, Table
    from convex_evals.runs.options import RunOptions
    from convex_evals.store.run import Run


@click.command()
@model_options
@trial_options
@click.option("--fresh", is_flag=True, help="Plan a new run with new replies, even if the same one is planned or done.")
@delivery_options
@runs_dir_option
@output_option
@pass_run_options
def plan(options: RunOptions) -> None:
    """Write the plan (run.json) of what `cli run` with the same options would do, without asking any model.

    Several processes can then execute it with `cli run --run RUN --shard I/N`, and `cli finish RUN` writes the summary.
    With --run-id and --date, the file is the same on every machine.

    \b
    Examples:
      cli plan -m claude-sonnet-5 --trials 5 --commit --push
      cli plan -m gpt-5 --run-id nightly-0412 --date 2026-04-12 --json
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.models.budget import Budget
    from convex_evals.render.terminal import Display
    from convex_evals.runs.execute import plan_runs
    from convex_evals.runs.request import make_solvers, resolve

    options = complete_run_options(options)
    workspace = open_workspace(options.suite, options.runs_dir, Path.cwd())
    solvers = make_solvers(workspace, Budget(None))
    with Display() as display:
        resolved = resolve(options, workspace, solvers)
        for line in resolved.skipped:
            display.warn(line)
        delivery = open_delivery(workspace.runs_dir, options.commit, options.push)
        runs = asyncio.run(plan_runs(resolved.requests, workspace, display, fresh=options.fresh))
    print_lines(options.form, (line for run in runs for line in _lines(run)), _table(runs))
    if delivery:
        for line in delivery.deliver([run for run in runs if not run.is_complete], "plan"):
            say(line, err=options.form != DEFAULT)


def _lines(run: Run) -> Iterator[str]:
    from convex_evals.runs.options import resume
    from convex_evals.text import counted

    plan = run.plan
    amount = f"{counted(len(plan.evals), 'eval')}, {counted(plan.trials, 'trial')} each"
    yield f"{plan.model}  {plan.experiment}: {amount}"
    yield f"Plan: {run.folder / 'run.json'}"
    yield "Already complete." if run.is_complete else f"Execute it: {resume(plan).command()} [--shard I/N]"


def _table(runs: list[Run]) -> Table:
    from convex_evals.render.model import Column, Table

    columns = [
        Column("run_id", "run", is_id=True),
        Column("folder", None),
        Column("model", "model", right=True, is_id=True),
        Column("experiment", "experiment", right=True),
        Column("evals", "evals", right=True),
        Column("trials", "trials", right=True),
        Column("complete", "complete", right=True),
    ]
    rows: list[Row] = [
        [
            *(run.plan.run_id, str(run.folder), run.plan.model, run.plan.experiment),
            *(len(run.plan.evals), run.plan.trials, run.is_complete),
        ]
        for run in runs
    ]
    return Table.of(columns, rows)
