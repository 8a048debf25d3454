"""`cli finish`"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    delivery_options,
    from_option,
    open_delivery,
    output_option,
    print_result,
    runs_dir_option,
    suite_path,
)
from convex_evals.render.formats import DEFAULT
from convex_evals.render.output import complain, say

if TYPE_CHECKING:
    from convex_evals.store.run import Run


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@from_option
@delivery_options
@runs_dir_option
@output_option
@click.pass_context
def finish(
    ctx: click.Context,
    names: tuple[str, ...],
    source: Path | None,
    commit: bool,
    push: bool,
    runs_dir: Path | None,
    form: str,
) -> int:
    """Write a run's summary.json from what its shards delivered, and list what is missing.

    RUN is a run's id or a prefix of it, its folder, or `last`. A run without any results does not keep the others from
    being finished; the exit code is then 1. It is 6 if trials have no verdict. A run whose batches go on is finished as
    far as it is.

    \b
    Examples:
      cli finish default-1a2b3c4d
      cli finish nightly-0412 --commit --push
      cli finish default-1a2b3c4d --from ../graded --commit --push
    """
    from convex_evals.analysis.totals import run_to_data
    from convex_evals.config import open_workspace
    from convex_evals.render.model import apart
    from convex_evals.runs.finalize import finish_runs
    from convex_evals.runs.outcome import run_section
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir)
    chosen = {run.folder: run for run in map(store.find, names)}.values()
    delivery = open_delivery(workspace.runs_dir, commit, push)
    if source:
        _take_in(chosen, source)
    ends = finish_runs(chosen, workspace.journal_dir)
    if ends.finished or form == "json":
        waiting = {run.folder: trials for run, trials in ends.pending}
        rows = [*ends.finished, *((run, None) for run in ends.without_results)]
        section = apart(*(run_section(r, s) for r, s in ends.finished))
        print_result(
            form, section, lambda: [{**run_to_data(r, s), "pending": waiting.get(r.folder, 0)} for r, s in rows]
        )
    for kind, line in ends.complaints:
        complain(line, kind)
    if delivery:
        for line in delivery.deliver([*(run for run, _ in ends.finished), *ends.without_results], "finish"):
            say(line, err=form != DEFAULT)
    return ends.exit_code


def _take_in(runs: Collection[Run], source: Path) -> None:
    """Take in what other machines made of `runs`. Raises `UserError`."""
    from convex_evals.runs.collect import collect_batches, collect_run, sources
    from convex_evals.store.batches import BatchFolder
    from convex_evals.text import counted

    # While batches go on, a command may have brought nothing.
    places = sources(source, may_be_none=all(BatchFolder(run).pending() for run in runs))
    for run in runs if places else ():
        taken = counted(collect_run(run, places), "eval")
        batches = collect_batches(run, places)
        also = f" and {batches} batch{'es' * (batches > 1)}" if batches else ""
        say(f"{run.plan.run_id}: took in {taken}{also} from {source}", err=True)
