"""`cli status`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import json_option, runs_dir_option, suite_path
from convex_evals.render.output import say, say_json


@click.command()
@click.argument("run_name", metavar="[RUN]", default="last")
@runs_dir_option
@json_option
@click.pass_context
def status(ctx: click.Context, run_name: str, runs_dir: Path | None, as_json: bool) -> None:
    """Show the progress of the last run (or of RUN), its results, and the command that resumes it.

    \b
    Examples:
      cli status
      cli status default-1f0c --json
    """
    from convex_evals.config import open_workspace
    from convex_evals.records import dump_json
    from convex_evals.runs.status import status_of
    from convex_evals.store.journal import Journal
    from convex_evals.store.runs import RunStore
    from convex_evals.suite.suite import load_suite

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    run = RunStore(workspace.runs_dir).find(run_name)
    evals = [e.id for e in load_suite(workspace.suite).evals]
    found = status_of(run, Journal(workspace.journal_dir, run.plan), evals, workspace.config.experiments)
    if as_json:
        say_json(dump_json(found.to_data()))
    else:
        say(found.to_text())
