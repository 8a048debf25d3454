"""`cli plan`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.options import (
    delivery_options,
    json_option,
    open_delivery,
    order_of,
    order_options,
    runs_dir_option,
    suite_path,
)
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.store.runs import Run


@click.command()
@order_options
@click.option("--fresh", is_flag=True, help="A new run with new replies, even where one like it is planned or done.")
@delivery_options
@runs_dir_option
@json_option
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    fresh: bool,
    commit: bool,
    push: bool,
    runs_dir: Path | None,
    as_json: bool,
    **words: Any,
) -> None:
    """Write the run.json of what `cli run` with the same options would do, and ask nobody.

    Several processes then do it: `cli run --run RUN --shard I/N`, and `cli finish RUN`. With --run-id and --date the
    file is the same wherever it is made.

    \b
    Examples:
      cli plan -m claude-sonnet-5 --trials 5 --commit --push
      cli plan -m gpt-5 --run-id nightly-0412 --date 2026-04-12 --json
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.models.budget import Budget
    from convex_evals.models.catalog import load_models
    from convex_evals.models.solvers import SolverFactory
    from convex_evals.render.terminal import Display
    from convex_evals.runs.execute import plan_runs
    from convex_evals.runs.request import load_environment, resolve

    order = order_of(words)
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    load_environment(workspace.home)
    models = load_models(workspace.home)
    with Display() as display:
        resolved = resolve(order, workspace, SolverFactory(models, workspace.config.concurrency, Budget(None)))
        for line in resolved.skipped:
            display.warn(line)
        delivery = open_delivery(workspace.runs_dir, commit, push)
        runs = asyncio.run(plan_runs(resolved.requests, workspace, display, fresh=fresh))
    _report(runs, as_json)
    if delivery:
        for line in delivery.deliver([run for run in runs if not run.is_complete], "plan"):
            say(line, err=as_json)


def _report(runs: list[Run], as_json: bool) -> None:
    import json

    if as_json:
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
        say("It is complete already." if run.is_complete else f"Do it: cli run --run {plan.run_id} [--shard I/N]")
