"""`cli plan`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.invocation import complete_run_options, model_options, pass_run_options, trial_options
from convex_evals.cli.options import (
    delivery_options,
    json_option,
    open_delivery,
    runs_dir_option,
)
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.runs.options import RunOptions
    from convex_evals.store.runs import Run


@click.command()
@model_options
@trial_options
@click.option("--fresh", is_flag=True, help="Plan a new run with new replies, even if the same one is planned or done.")
@delivery_options
@runs_dir_option
@json_option
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
    _report(runs, options.form)
    if delivery:
        for line in delivery.deliver([run for run in runs if not run.is_complete], "plan"):
            say(line, err=options.form == "json")


def _report(runs: list[Run], form: str) -> None:
    import json

    from convex_evals.runs.options import resume

    if form == "json":
        rows = [
            {
                "run_id": run.plan.run_id,
                "folder": str(run.folder),
                "model": run.plan.model,
                "experiment": run.plan.experiment,
                "evals": len(run.plan.evals),
                "trials": run.plan.trials,
                "complete": run.is_complete,
            }
            for run in runs
        ]
        say_json(json.dumps(rows, indent=2))
        return
    for run in runs:
        plan = run.plan
        say(f"{plan.model}  {plan.experiment}: {len(plan.evals)} evals, {plan.trials} trials each")
        say(f"Plan: {run.folder / 'run.json'}")
        say("Already complete." if run.is_complete else f"Execute it: {resume(plan).command()} [--shard I/N]")
