"""`cli view`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import output_option, runs_dir_option, suite_path
from convex_evals.cli.viewing import serve_pages, viewing_options


@click.command()
@viewing_options
@runs_dir_option
@output_option
@click.pass_context
def view(ctx: click.Context, port: int, opens: bool | None, runs_dir: Path | None, form: str) -> None:
    """Browse runs, models, evals, guidelines, reports and coding sessions in the browser, until Ctrl-C.

    Pages are made from the files as they are, and follow a run while it is under way. They are served to this machine
    alone. Below the second address, which has a token, reports can be written and sessions reviewed; without it
    everything is read-only, and sessions are not shown.

    \b
    Examples:
      cli view
      cli view --port 9000 --no-open
      cli -C ../their-evals view --runs-dir ../their-evals/runs
    """
    from convex_evals.config import open_workspace

    serve_pages(open_workspace(suite_path(ctx), runs_dir, Path.cwd()), port, opens, form)
