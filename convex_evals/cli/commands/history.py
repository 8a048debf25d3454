"""`cli history`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import output_option, print_result, read_name, runs_dir_option, suite_path, tell_left_out


@click.command()
@click.option(
    "-m",
    "--model",
    required=True,
    callback=read_name,
    metavar="MODEL",
    help="A model of models.yaml, or one that has runs here.",
)
@click.option("-e", "--experiment", callback=read_name, metavar="NAME", help="Only this experiment.")
@runs_dir_option
@output_option
@click.pass_context
def history(ctx: click.Context, model: str, experiment: str | None, runs_dir: Path | None, form: str) -> int:
    """Show a model's pass rate over time, oldest run first, and which guidelines it was given.

    Runs of the same benchmark and experiment can be compared; a benchmark that was not minted goes by its id.

    \b
    Examples:
      cli history -m claude-sonnet-5
      cli history -m claude-sonnet-5 -e default --json
    """
    from convex_evals.analysis.history import history_section, history_to_data, read_history
    from convex_evals.config import open_workspace
    from convex_evals.errors import UserError
    from convex_evals.models.catalog import find_ran, load_catalog
    from convex_evals.runs.options import DEFAULT_EXPERIMENT, RunOptions, named_experiment
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir, left_out=[])
    listed = [m.slug for m in load_catalog(workspace.home).own]
    slug = find_ran(model, listed, store.models())
    found = read_history(store, slug, experiment, BenchmarkFolder(workspace.home).heads())
    if not (found.points or found.incomplete):
        if experiment:
            workspace.config.experiment(experiment)  # runs may be older than the settings
        under = f" under {experiment}" if experiment else ""
        make = RunOptions(models=(slug,), experiments=named_experiment(experiment or DEFAULT_EXPERIMENT)).command()
        raise UserError(f"-m {model}: {slug} has no runs{under} in {workspace.runs_dir}; `{make}` makes one")
    print_result(form, history_section(slug, found), lambda: history_to_data(slug, found))
    return tell_left_out(store)
