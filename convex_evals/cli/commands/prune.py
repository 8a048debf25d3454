"""`cli prune`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.numbers import WholeNumber
from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path, tell_left_out
from convex_evals.render.formats import FORMATS

if TYPE_CHECKING:
    from convex_evals.render.model import Table
    from convex_evals.runs.prune import Loss


@click.command()
@click.option(
    "--keep", type=WholeNumber(0), metavar="N", help="Keep the N newest complete runs of each model and experiment."
)
@click.option(
    "--older-than", type=WholeNumber(0, 36500), metavar="DAYS", help="Only runs planned more than DAYS days ago."
)
@click.option("--yes", is_flag=True, help="Delete them. Without this, only show what would be deleted.")
@runs_dir_option
@output_option
@click.pass_context
def prune(
    ctx: click.Context, keep: int | None, older_than: int | None, yes: bool, runs_dir: Path | None, form: str
) -> int:
    """Delete the raw replies of old runs. Their verdicts, costs and totals are kept.

    A run without replies can no longer be graded again, replayed or reused by later runs; pruned.json in its folder
    says so. Only complete runs are pruned, and only they are counted by --keep. Replies that were committed remain in
    Git's history.

    \b
    Examples:
      cli prune --keep 5
      cli prune --keep 1 --older-than 90 --yes
    """
    from datetime import UTC, datetime

    from convex_evals.config import open_workspace
    from convex_evals.render.model import Section
    from convex_evals.runs.prune import prune_runs, to_prune
    from convex_evals.store.runs import RunStore

    if keep is None and older_than is None:
        raise click.UsageError("choose which runs to prune: --keep N, --older-than DAYS, or both")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    today = datetime.now(UTC).date()
    store = RunStore(workspace.runs_dir, left_out=[])
    chosen = to_prune(store, keep, older_than, today)
    found = prune_runs(chosen, today, do=yes)
    said = f"{sum(p.size for p in found):,} bytes " + ("deleted." if yes else "would be deleted; --yes deletes them.")
    section = (
        Section.of(_table(found), said) if found or FORMATS[form].for_machines else Section.of("Nothing to prune.")
    )
    print_result(form, section)
    return tell_left_out(store)


def _table(found: list[Loss]) -> Table:
    from convex_evals.analysis.totals import places_table
    from convex_evals.render.model import Cell, Column

    columns = [
        Column("replies", "replies", right=True),
        Column("bytes", "bytes", right=True),
        Column("pruned", None),
    ]
    return places_table(columns, ((p.run, [p.replies, Cell(f"{p.size:,}", p.size), p.done]) for p in found))
