"""`cli finish`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.commands.options import delivery_options, json_option, open_delivery, runs_dir_option, suite_path


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@delivery_options
@runs_dir_option
@json_option
@click.pass_context
def finish(
    ctx: click.Context, names: tuple[str, ...], commit: bool, push: bool, runs_dir: Path | None, as_json: bool
) -> None:
    """Write a run's summary.json from whatever its shards delivered, and say what is missing.

    RUN is a run's id or the beginning of it, its folder, or `last`.

    \b
    Examples:
      cli finish default-1a2b3c4d
      cli finish nightly-0412 --commit --push
    """
    import json

    from convex_evals.config import open_workspace
    from convex_evals.finish import finish_run
    from convex_evals.results import run_report, run_to_data
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir)
    runs = [store.find(name) for name in dict.fromkeys(names)]
    delivery = open_delivery(workspace.runs_dir, commit, push)
    summaries = [finish_run(run, workspace.journal_dir) for run in runs]
    if as_json:
        click.echo(json.dumps([run_to_data(r, s) for r, s in zip(runs, summaries, strict=True)], indent=2))
    else:
        click.echo("\n\n".join(run_report(r, s) for r, s in zip(runs, summaries, strict=True)))
    if delivery:
        for line in delivery.deliver(runs, "finish"):
            click.echo(line, err=as_json)
