"""`cli list`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    filter_options,
    output_option,
    print_result,
    read_name,
    runs_dir_option,
    suite_path,
    tell_left_out,
)
from convex_evals.render.formats import FORMATS
from convex_evals.render.output import complain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.config import Workspace
    from convex_evals.suite.suite import Eval


@click.command("list")
@click.argument("what", type=click.Choice(["runs", "evals"]), default="runs")
@filter_options
@click.option("-m", "--model", callback=read_name, metavar="MODEL", help="Only runs of this model.")
@click.option("-e", "--experiment", callback=read_name, metavar="NAME", help="Only runs under this experiment.")
@runs_dir_option
@output_option
@click.pass_context
def list_(
    ctx: click.Context,
    what: str,
    patterns: tuple[str, ...],
    categories: tuple[str, ...],
    tags: tuple[str, ...],
    model: str | None,
    experiment: str | None,
    runs_dir: Path | None,
    form: str,
) -> int:
    """List runs (newest first) or the suite's evals.

    \b
    Examples:
      cli list
      cli list evals -c queries
      cli list evals --tag pagination -f '!clients'
      cli list runs -m claude-sonnet-5 -e default --json
    """
    from convex_evals.config import open_workspace
    from convex_evals.suite.suite import load_suite

    if what == "runs" and (patterns or categories or tags):
        raise click.UsageError("-f, -c and --tag choose evals: `cli list evals`")
    if what == "evals" and (model or experiment):
        raise click.UsageError("-m and -e choose runs: `cli list runs`")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    if what == "evals":
        _evals(load_suite(workspace.suite).select(patterns, categories, tags), form)
        return 0
    return _runs(workspace, model, experiment, form)


def _evals(evals: Sequence[Eval], form: str) -> None:
    from convex_evals.render.model import Column, Section, Table

    for e in evals:
        if e.config_problem:
            complain(e.config_problem, "warning")
    columns = [
        Column("eval", "eval", is_id=True),
        Column("pipeline", "pipeline", spare=1),
        Column("wrong", "wrong", right=True),
        Column("accept", "accept", right=True),
        Column("tags", "tags", spare=2),
        Column("path", None),
    ]
    rows = [
        [e.id, e.config.pipeline.value, len(e.wrong()), len(e.accept()), tuple(e.config.tags), str(e.path)]
        for e in evals
    ]
    print_result(form, Section.of(Table.of(columns, rows)))


def _runs(workspace: Workspace, model: str | None, experiment: str | None, form: str) -> int:
    from convex_evals.analysis.totals import run_to_data, runs_table
    from convex_evals.models.catalog import find_ran, load_catalog
    from convex_evals.render.model import Section
    from convex_evals.store.runs import RunStore

    store, runs_dir = RunStore(workspace.runs_dir, left_out=[]), workspace.runs_dir
    slug = model and find_ran(model, [m.slug for m in load_catalog(workspace.home).own], store.models())
    runs = [(run, summary) for run, summary in store.readable(slug) if experiment in (None, run.plan.experiment)]
    none = f"No runs in {runs_dir} yet; `cli run --model reference` makes one, `cli list evals` lists the evals."
    if model or experiment:
        if experiment and not runs:
            workspace.config.experiment(experiment)  # runs may be older than the settings
        which = " ".join(filter(None, [slug and f"of {slug}", experiment and f"under {experiment}"]))
        none = f"No runs {which} in {runs_dir}; `cli list` lists all."
    section = Section.of(runs_table(runs) if runs or FORMATS[form].for_machines else none)
    print_result(form, section, lambda: [run_to_data(run, summary) for run, summary in runs])
    return tell_left_out(store)
