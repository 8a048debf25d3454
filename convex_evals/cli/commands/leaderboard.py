"""`cli leaderboard`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path


@click.command()
@click.option("-e", "--experiment", metavar="NAME", help="Only this experiment. Default: all, one after the other.")
@runs_dir_option
@output_option
@click.pass_context
def leaderboard(ctx: click.Context, experiment: str | None, runs_dir: Path | None, form: str) -> None:
    """Rank models by the pass rate of their latest complete run, under each experiment.

    Equal pass rates share a rank. Not ranked, but counted: synthetic runs, incomplete runs, runs with fewer than half
    as many evals as the largest run, and runs with other guidelines than the experiment's.

    \b
    Examples:
      cli leaderboard
      cli leaderboard -e no_guidelines --json
    """
    from convex_evals.analysis.leaderboard import leaderboard_section, leaderboard_to_data, read_leaderboard
    from convex_evals.config import open_workspace
    from convex_evals.render.model import Section
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    board = read_leaderboard(RunStore(workspace.runs_dir), workspace.config, experiment)
    section = leaderboard_section(board)
    if not board.by_experiment:
        if experiment:
            workspace.config.experiment(experiment)  # runs may be older than the settings
        under = f" under {experiment}" if experiment else ""
        none = f"No run to rank{under} in {workspace.runs_dir}; `cli run -m MODEL` makes one."
        section = Section.of(none, *section.parts)
    print_result(form, section, lambda: leaderboard_to_data(board))
