"""`cli delete`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.render.model import Table
    from convex_evals.runs.delete import Deletion


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Delete them. Without this, only show what would be deleted.")
@runs_dir_option
@output_option
@click.pass_context
def delete(ctx: click.Context, names: tuple[str, ...], yes: bool, runs_dir: Path | None, form: str) -> None:
    """Delete runs: their folders, and what this machine's journal has of them.

    RUN is a run's id or a prefix of it, its folder, `last`, or a model's slug for all of its runs. A run that was
    published is deleted from there first, by `cli unpublish`. What was committed remains in Git's history. Replies that
    no other run has are asked for, and paid for, again.

    \b
    Examples:
      cli delete default-1a2b3c4d
      cli delete default-1a2b3c4d --yes
      cli delete stub/model --yes
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import UserError
    from convex_evals.publish.deployments import DATA, LOCAL_LEDGERS
    from convex_evals.publish.ledger import published_to
    from convex_evals.render.model import Section
    from convex_evals.runs.delete import Deletion
    from convex_evals.store.runs import RunStore
    from convex_evals.text import counted

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    found = []
    for run in RunStore(workspace.runs_dir).find_all(names):
        name = run.plan.run_id
        if there := published_to(run, workspace.home / DATA / LOCAL_LEDGERS):
            raise UserError(f"{name}: was published to {there[0]}; `cli unpublish {name} --to {there[0]}` first")
        found.append(Deletion.of(run, workspace.journal_dir))
    for each in found if yes else ():
        each.do(workspace.journal_dir)
    what = f"{counted(len(found), 'run')}, {sum(each.size for each in found):,} bytes "
    said = what + ("deleted." if yes else "would be deleted; --yes deletes them.")
    print_result(form, Section.of(_table(found, done=yes), said))


def _table(found: Sequence[Deletion], *, done: bool) -> Table:
    from convex_evals.analysis.totals import places_table
    from convex_evals.render.model import Cell, Column

    columns = [
        Column("files", "files", right=True),
        Column("bytes", "bytes", right=True),
        Column("journalled", "trials in journal", right=True),
        Column("deleted", None),
    ]
    return places_table(
        columns, ((e.run, [len(e.files), Cell(f"{e.size:,}", e.size), e.journalled, done]) for e in found)
    )
