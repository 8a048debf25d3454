"""`cli leaderboard`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import json_option, runs_dir_option, suite_path
from convex_evals.render.output import say, say_json


@click.command()
@click.option("-e", "--experiment", metavar="NAME", help="Only this experiment. Default: all, one after the other.")
@runs_dir_option
@json_option
@click.pass_context
def leaderboard(ctx: click.Context, experiment: str | None, runs_dir: Path | None, as_json: bool) -> None:
    """Rank models by the pass rate of their latest complete run, under each experiment.

    Equal pass rates share a rank. Not ranked, but counted: synthetic runs, incomplete runs, runs with fewer than half
    as many evals as the largest run, and runs with other guidelines than the experiment's.

    \b
    Examples:
      cli leaderboard
      cli leaderboard -e no_guidelines --json
    """
    import json

    from convex_evals.analysis.leaderboard import read_leaderboard
    from convex_evals.config import open_workspace
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    board = read_leaderboard(RunStore(workspace.runs_dir), workspace.config, experiment)
    if as_json:
        say_json(json.dumps(board.to_data(), indent=2))
        return
    if not board.by_experiment:
        under = f" under {experiment}" if experiment else ""
        say(f"No run to rank{under} in {workspace.runs_dir}; `cli run -m MODEL` makes one.")
    if text := board.to_text():
        say(text)
