"""`cli prune`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import json_option, runs_dir_option, suite_path
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.runs.prune import Loss


@click.command()
@click.option(
    "--keep", type=click.IntRange(0), metavar="N", help="Keep the N newest runs of each model and experiment."
)
@click.option(
    "--older-than", type=click.IntRange(0, 36500), metavar="DAYS", help="Only runs planned more than DAYS days ago."
)
@click.option("--yes", is_flag=True, help="Delete them. Without this, only show what would be deleted.")
@runs_dir_option
@json_option
@click.pass_context
def prune(
    ctx: click.Context, keep: int | None, older_than: int | None, yes: bool, runs_dir: Path | None, as_json: bool
) -> None:
    """Delete the raw replies of old runs. Their verdicts, costs and totals are kept.

    A run without replies can no longer be graded again, replayed or reused by later runs; pruned.json in its folder
    says so. Only complete runs are pruned. Replies that were committed remain in Git's history.

    \b
    Examples:
      cli prune --keep 5
      cli prune --keep 1 --older-than 90 --yes
    """
    import json
    from datetime import UTC, datetime

    from convex_evals.config import open_workspace
    from convex_evals.runs.prune import prune_runs, to_prune
    from convex_evals.store.runs import RunStore

    if keep is None and older_than is None:
        raise click.UsageError("choose which runs to prune: --keep N, --older-than DAYS, or both")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    today = datetime.now(UTC).date()
    chosen = to_prune(RunStore(workspace.runs_dir).all(), keep, older_than, today)
    found = prune_runs(chosen, today, do=yes)
    if as_json:
        say_json(json.dumps([p.to_data() for p in found], indent=2))
    elif found:
        _print(found, yes)
    else:
        say("Nothing to prune.")


def _print(found: list[Loss], done: bool) -> None:
    from convex_evals.render.results import table

    cells = [
        [p.run.plan.run_id, p.run.plan.date, p.run.plan.model, p.run.plan.experiment, f"{p.replies}", f"{p.size:,}"]
        for p in found
    ]
    say(table(["run", "date", "model", "experiment", "replies", "bytes"], cells))
    total = sum(p.size for p in found)
    say(f"{total:,} bytes " + ("deleted." if done else "would be deleted; --yes deletes them."))
