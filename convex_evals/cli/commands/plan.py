"""`cli plan`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.invocation import (
    complete_run_options,
    model_options,
    pass_run_options,
    session_options,
    trial_options,
)
from convex_evals.cli.numbers import Number, WholeNumber
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
    from convex_evals.runs.plan import RunRequest
    from convex_evals.store.run import Run


@click.command()
@model_options
@trial_options
@session_options
@click.option("--fresh", is_flag=True, help="Plan a new run with new replies, even if the same one is planned or done.")
@click.option("--due", is_flag=True, help="Plan what `cli due` lists, the most needed first, as far as --budget goes.")
@click.option("--budget", type=Number(0), metavar="USD", help="With --due: what the runs may cost together.")
@click.option(
    "--outputs",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append what a matrix of jobs needs to FILE, as lines `runs=...` and `shards=[...]`; in GitHub Actions, "
    "$GITHUB_OUTPUT.",
)
@click.option(
    "--most-shards",
    type=WholeNumber(1, 256),
    default=8,
    show_default=True,
    metavar="N",
    help="With --outputs: at most N shards, one for each $10 or 100 calls that are expected.",
)
@delivery_options
@runs_dir_option
@output_option
@pass_run_options
def plan(options: RunOptions, outputs: Path | None, most_shards: int) -> None:
    """Write the plan (run.json) of what `cli run` with the same options would do, without asking any model.

    Several processes can then execute it with `cli run --run RUN --shard I/N`, and `cli finish RUN` writes the summary.
    With --run-id and --date, the file is the same on every machine.

    \b
    Examples:
      cli plan -m claude-sonnet-5 --trials 5 --commit --push
      cli plan -m gpt-5 --run-id nightly-0412 --date 2026-04-12 --json
      cli plan --due --budget 40 --commit --push --outputs "$GITHUB_OUTPUT"
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.models.budget import Budget
    from convex_evals.render.terminal import Display
    from convex_evals.runs.due_requests import resolve_due
    from convex_evals.runs.execute import plan_runs
    from convex_evals.runs.request import make_solvers, resolve

    if options.budget is not None and not options.due:
        raise click.UsageError("--budget chooses among what is due; give it to `cli run`, or add --due")
    options = complete_run_options(options)
    workspace = open_workspace(options.suite, options.runs_dir, Path.cwd(), of_sessions=options.sessions)
    solvers = make_solvers(workspace, Budget(options.budget))
    with Display() as display:
        resolved = (resolve_due if options.due else resolve)(options, workspace, solvers)
        for line in resolved.skipped:
            display.warn(line)
        if options.due and not resolved.requests:
            display.warn("nothing of what is due can be run" if resolved.skipped else "nothing is due")
        delivery = open_delivery(workspace.runs_dir, options.commit, options.push)
        planned = asyncio.run(plan_runs(resolved.requests, workspace, display, fresh=options.fresh))
    runs = [run for run, _ in planned]
    print_lines(options.form, (line for run in runs for line in _lines(run)), _table(runs))
    left = [(run, request) for run, request in planned if not run.is_complete]
    if delivery:
        for line in delivery.deliver([run for run, _ in left], "plan"):
            say(line, err=options.form != DEFAULT)
    if outputs:
        _write_outputs(outputs, left, most_shards)


def _write_outputs(path: Path, left: list[tuple[Run, RunRequest]], most_shards: int) -> None:
    """Raises `UserError` where the file cannot be written."""
    from convex_evals.errors import UserError
    from convex_evals.runs.costs import estimate, total
    from convex_evals.runs.shard import shards_for

    most_evals = max((len(request.evals) for _, request in left), default=1)  # more shards would have nothing to do
    shards = shards_for(total(estimate(request) for _, request in left), min(most_shards, most_evals))
    names = " ".join(run.plan.run_id for run, _ in left)
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(f"runs={names}\nshards={list(range(1, shards + 1))}\n")
    except OSError as error:
        raise UserError(f"--outputs {path}: {error.strerror}") from None


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
        Column("model", "model", is_id=True),
        Column("experiment", "experiment"),
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
