"""`cli status`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path


@click.command()
@click.argument("run_name", metavar="[RUN]", default="last")
@runs_dir_option
@output_option
@click.pass_context
def status(ctx: click.Context, run_name: str, runs_dir: Path | None, form: str) -> None:
    """Show the progress of the last run (or of RUN), its results, and the command that resumes it.

    \b
    Examples:
      cli status
      cli status default-1f0c --json
    """
    from convex_evals.config import open_workspace
    from convex_evals.runs.status import status_of
    from convex_evals.store.journal import Journal
    from convex_evals.store.runs import RunStore
    from convex_evals.suite.suite import load_suite

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    run = RunStore(workspace.runs_dir).find(run_name)
    evals = [e.id for e in load_suite(workspace.suite).evals]
    found = status_of(run, Journal(workspace.journal_dir, run.plan), evals, workspace.config.experiments)
    print_result(form, found.to_section(), found.to_data)
