"""`cli matrix`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import (
    filter_options,
    only_experiment_option,
    output_option,
    print_result,
    read_name,
    runs_dir_option,
    suite_path,
    tell_left_out,
)


@click.command()
@filter_options
@click.option(
    "-m", "--model", callback=read_name, metavar="MODEL", help="Only this model. Default: all that are ranked."
)
@only_experiment_option
@runs_dir_option
@output_option
@click.pass_context
def matrix(
    ctx: click.Context,
    patterns: tuple[str, ...],
    categories: tuple[str, ...],
    tags: tuple[str, ...],
    model: str | None,
    experiment: str | None,
    runs_dir: Path | None,
    form: str,
) -> int:
    """Show the pass rate of each eval for each model, the worst eval first, under each experiment.

    Takes the newest complete run of the whole suite of each model, and what newer runs of a part of it say instead;
    `--json` names the run of each cell. The best model stands first. A cell is empty where no run of a model has the
    eval, and `-` where no trial of it was scored.

    \b
    Examples:
      cli matrix
      cli matrix -e default -c queries
      cli matrix -m claude-sonnet-5 --format csv > matrix.csv
    """
    from convex_evals.analysis.leaderboard import Ranker
    from convex_evals.analysis.matrix import make_matrices, matrix_section, matrix_to_data
    from convex_evals.config import open_workspace
    from convex_evals.models.catalog import find_ran, load_catalog
    from convex_evals.render.model import Section
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore
    from convex_evals.suite.suite import load_suite

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir, left_out=[])
    slug = model and find_ran(model, [m.slug for m in load_catalog(workspace.home).own], store.models())
    chosen = patterns or categories or tags
    evals = {e.id for e in load_suite(workspace.suite).select(patterns, categories, tags)} if chosen else None
    board = Ranker(store, workspace.config, BenchmarkFolder(workspace.home)).newest_verdicts(experiment)
    found = make_matrices(board, slug or None, evals)
    section = matrix_section(found, board)
    if not found:
        if experiment:
            workspace.config.experiment(experiment)  # runs may be older than the settings
        none = f"No run to show in {workspace.runs_dir}; `cli run -m MODEL` makes one, `cli list` lists all."
        section = Section.of(none, *section.parts)
    print_result(form, section, lambda: matrix_to_data(found, board))
    return tell_left_out(store)
