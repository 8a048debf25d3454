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
    """Browse runs, models, evals, guidelines and reports in the browser, until Ctrl-C.

    Pages are made from the files as they are, and follow a run while it is under way. They are served to this machine
    alone. Reports can be written below the second address, which has a token; without it everything is read-only.

    \b
    Examples:
      cli view
      cli view --port 9000 --no-open
      cli -C ../their-evals view --runs-dir ../their-evals/runs
    """
    from convex_evals.config import open_workspace

    serve_pages(open_workspace(suite_path(ctx), runs_dir, Path.cwd()), port, opens, form)
