"""`cli unpublish`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    delivery_options,
    deployment_option,
    output_option,
    runs_dir_option,
    suite_path,
)
from convex_evals.cli.publishing import complain_of, deliver_ledgers, open_ledger_delivery, print_runs, with_deployment

if TYPE_CHECKING:
    from convex_evals.publish.deployments import Deployment
    from convex_evals.publish.published import Published
    from convex_evals.render.terminal import Display


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@deployment_option
@click.option("--dry-run", is_flag=True, help="Say what would be deleted there; delete nothing.")
@delivery_options
@runs_dir_option
@output_option
@click.pass_context
def unpublish(
    ctx: click.Context,
    names: tuple[str, ...],
    to: str | None,
    dry_run: bool,
    commit: bool,
    push: bool,
    runs_dir: Path | None,
    form: str,
) -> int:
    """Delete runs from a leaderboard deployment, and keep them from being sent again.

    All trials of a run are deleted there with their files; nothing is deleted here. The ledgers in
    runs/.../published/NAME.json say so, and --commit commits them: `cli publish` leaves such a run out, unless it is
    named.

    \b
    Examples:
      cli unpublish default-1a2b3c4d --dry-run
      cli unpublish default-1a2b3c4d --to prod --commit --push
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.publish.withdrawal import Withdrawal
    from convex_evals.runs.request import load_environment
    from convex_evals.text import counted

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    load_environment(workspace.home)
    delivery = open_ledger_delivery(workspace, to, commit and not dry_run, push and not dry_run)

    async def withdraw(deployment: Deployment, display: Display) -> list[Published]:
        return await Withdrawal(workspace, deployment, dry_run, display).withdraw(names)

    deployment, found = with_deployment(workspace, to, withdraw)
    deleted = sum(how == "withdrawn" for each in found for how in each.trials.values())
    line = f"{counted(deleted, 'trial')} deleted from {deployment.url}."
    print_runs(form, found, deployment, dry_run, "Nothing was deleted (--dry-run)." if dry_run else line)
    deliver_ledgers(delivery, found, deployment, "unpublish", form)
    return complain_of(found, ExitCode.USER_ERROR)
