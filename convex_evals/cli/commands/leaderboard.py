"""`cli leaderboard`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path

if TYPE_CHECKING:
    from convex_evals.analysis.leaderboard import Ranker
    from convex_evals.analysis.ranking import Leaderboard


@click.command()
@click.option("-e", "--experiment", metavar="NAME", help="Only this experiment. Default: all, one after the other.")
@click.option("-b", "--benchmark", metavar="NAME", help="Rank the runs of this benchmark.")
@click.option("--shared", nargs=2, metavar="NAME NAME", help="Rank by the evals that two benchmarks share.")
@click.option(
    "--runs",
    "latest",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of a model's latest runs count.",
)
@click.option("--all", "everything", is_flag=True, help="Also list the runs that are not ranked, with the reason.")
@runs_dir_option
@output_option
@click.pass_context
def leaderboard(
    ctx: click.Context,
    experiment: str | None,
    benchmark: str | None,
    shared: tuple[str, str] | None,
    latest: int,
    everything: bool,
    runs_dir: Path | None,
    form: str,
) -> None:
    """Rank models by the pass rate of their latest complete runs, under each experiment.

    Only like is ranked with like, within one benchmark: the same evals, graders, guidelines, prompt and backend. It is
    the newest one that `cli benchmark mint` named and that has runs, else the one that most models ran. Equal pass
    rates share a rank; a reply that several runs used counts once. Never ranked, but counted with the reason:
    synthetic and incomplete runs, drafts (uncommitted changes to the suite), and runs of other benchmarks.

    \b
    Examples:
      cli leaderboard
      cli leaderboard -e no_guidelines --json
      cli leaderboard -b v1 --all
      cli leaderboard --shared v1 v2
    """
    from convex_evals.analysis.leaderboard import Ranker
    from convex_evals.analysis.leaderboard_tables import leaderboard_section, leaderboard_to_data
    from convex_evals.config import open_workspace
    from convex_evals.render.model import Section
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore
    from convex_evals.vcs.git import has_commits

    if bool(benchmark) + bool(shared) + bool(experiment) > 1:
        raise click.UsageError("-e, -b, --shared: give only one of them; a benchmark has its experiment")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    folder = BenchmarkFolder(workspace.home)
    drafts = not has_commits(workspace.suite)
    ranker = Ranker(RunStore(workspace.runs_dir), workspace.config, folder, drafts, latest)
    board = _board(ranker, experiment, benchmark, shared)
    if everything:
        board = ranker.validating(board, board.rankings[0].experiment if benchmark or shared else experiment)
    section = leaderboard_section(board, everything=everything)
    if not any(ranking.standings for ranking in board.rankings):
        if experiment:
            workspace.config.experiment(experiment)  # runs may be older than the settings
        under = f" of {benchmark}" if benchmark else f" under {experiment}" if experiment else ""
        none = f"No run to rank{under} in {workspace.runs_dir}; `cli run -m MODEL` makes one, `cli list` lists all."
        section = Section.of(none, *section.parts)
    print_result(form, section, lambda: leaderboard_to_data(board, everything=everything))


def _board(
    ranker: Ranker, experiment: str | None, benchmark: str | None, shared: tuple[str, str] | None
) -> Leaderboard:
    if shared:
        return ranker.shared(*map(ranker.benchmarks.read, shared))
    if benchmark:
        return ranker.of(ranker.benchmarks.head(benchmark))
    return ranker.all(experiment)
