"""`cli status`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path

if TYPE_CHECKING:
    from convex_evals.runs.status import Status
    from convex_evals.store.run import Run


@click.command()
@click.argument("run_name", metavar="[RUN]", required=False)
@runs_dir_option
@output_option
@click.pass_context
def status(ctx: click.Context, run_name: str | None, runs_dir: Path | None, form: str) -> None:
    """Show the progress of the last run (or of RUN), its results, and the command that resumes it.

    Without RUN, all other runs that are not complete are listed, too, and what is wrong with those that cannot be read.

    \b
    Examples:
      cli status
      cli status default-1f0c --json
    """
    from convex_evals.config import open_workspace
    from convex_evals.render.model import apart
    from convex_evals.runs.status import status_of
    from convex_evals.runs.unfinished import Unfinished, newest_and_unfinished
    from convex_evals.sessions.asking import session_items
    from convex_evals.store.journal import Journal
    from convex_evals.store.runs import RunStore
    from convex_evals.suite.suite import load_suite

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir)
    evals = [e.id for e in load_suite(workspace.suite).evals]

    def look(one: Run) -> Status:
        here = session_items(workspace.suite) if one.plan.comparison else evals
        return status_of(one, Journal(workspace.journal_dir, one.plan), here, workspace.config.experiments)

    found, others = (look(store.find(run_name)), Unfinished(())) if run_name else newest_and_unfinished(store, look)
    rest = others.to_section()
    section = apart(found.to_section(), rest) if rest.shown else found.to_section()
    data = {"unfinished": others.to_data(), "not_shown": list(others.problems)}
    print_result(form, section, lambda: {**found.to_data(), **data})
