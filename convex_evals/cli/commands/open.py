"""`cli open`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, runs_dir_option, suite_path
from convex_evals.cli.viewing import serve_pages, viewing_options

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.store.run import Run
    from convex_evals.store.runs import RunStore


@click.command("open")
@click.argument("names", metavar="[RUN] [EVAL]", nargs=-1)
@viewing_options
@runs_dir_option
@output_option
@click.pass_context
def open_(
    ctx: click.Context, names: tuple[str, ...], port: int, opens: bool | None, runs_dir: Path | None, form: str
) -> None:
    """Open the page on a run, on an eval, or on an eval of a run, and serve all pages until Ctrl-C.

    RUN is a run's id or a prefix of it, its folder, or `last`. EVAL is an eval's id or a part of it. Without either:
    the leaderboard, as `cli view` does.

    \b
    Examples:
      cli open last
      cli open index_range
      cli open last index_range
    """
    from convex_evals.config import open_workspace

    if len(names) > 2:
        raise click.UsageError("at most a RUN and an EVAL")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    serve_pages(workspace, port, True if opens is None else opens, form, _place(workspace, names))


def _place(workspace: Workspace, names: tuple[str, ...]) -> str:
    """Raises `UserError` where nothing is called so."""
    from convex_evals.analysis.trial import find_eval
    from convex_evals.errors import UserError
    from convex_evals.site import urls
    from convex_evals.store.runs import RunStore
    from convex_evals.suite.suite import load_suite

    store = RunStore(workspace.runs_dir)
    if not names:
        return ""
    if len(names) == 2:
        run = _shown(store, names[0])
        return urls.trials(run.plan, find_eval(run, names[1]))
    name = names[0]
    evals = [e.id for e in load_suite(workspace.suite).evals]
    found = [e for e in evals if e == name] or [e for e in evals if name in e]
    if len(found) == 1:
        return urls.eval_page(found[0])
    try:
        return urls.run(_shown(store, name).plan)
    except UserError as error:
        if not found:
            raise
        raise UserError(f"{name}: fits {len(found)} evals: {', '.join(found[:5])}; name one") from error


def _shown(store: RunStore, name: str) -> Run:
    """Raises `UserError` where there is no such run, or the pages of this folder do not have it."""
    from convex_evals.errors import UserError

    run = store.find(name)
    if run.root != store.root:
        raise UserError(f"{name}: stands in {run.root}, which has pages of its own; add --runs-dir {run.root.name}")
    return run
