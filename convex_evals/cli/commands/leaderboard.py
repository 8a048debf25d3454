"""`cli leaderboard`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_lines, print_result, runs_dir_option, suite_path

if TYPE_CHECKING:
    from convex_evals.analysis.leaderboard import Ranker
    from convex_evals.analysis.ranking import Leaderboard
    from convex_evals.publish.local import Served
    from convex_evals.render.model import Table


@click.group(invoke_without_command=True)
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
      cli leaderboard serve
    """
    if ctx.invoked_subcommand is not None:
        return
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


@leaderboard.command()
@click.option(
    "--data", metavar="DIR", type=click.Path(path_type=Path), help="Folder of its data. Default: .leaderboard/."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_534),
    default=3210,
    show_default=True,
    metavar="N",
    help="Port of the deployment; JSON and badges are on the next one. 0: any two that are free.",
)
@output_option
@click.pass_context
def serve(ctx: click.Context, data: Path | None, port: int, form: str) -> None:
    """Serve a leaderboard on this machine, until Ctrl-C.

    It is the app in leaderboard/, which `npx convex deploy` puts into the cloud. What is published is on the disk
    before the publisher is told so, and there again at the next start. `cli publish --to local` sends to it, and also
    works while it is not running.

    \b
    Examples:
      cli leaderboard serve
      cli leaderboard serve --data ~/scores --port 4000
    """
    import asyncio
    from contextlib import AsyncExitStack

    from convex_evals.config import open_workspace
    from convex_evals.publish.local import DATA
    from convex_evals.publish.local import serve as serve_data
    from convex_evals.render.output import say
    from convex_evals.render.terminal import Display

    folder = data or open_workspace(suite_path(ctx), None, Path.cwd()).home / DATA

    async def run() -> None:
        async with AsyncExitStack() as stack:
            with Display() as display:
                serving = serve_data(folder.absolute(), port, port and port + 1, display.preparing)
                served = await stack.enter_async_context(serving)
            here = Path.cwd()
            shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
            print_lines(form, _where(shown, served, own=data is None), _places(served), served.to_data)
            await served.until_it_ends()

    try:
        asyncio.run(run())
    except KeyboardInterrupt:
        say("Stopped; what was published is kept.", err=True)


def _where(folder: Path, served: Served, *, own: bool) -> list[str]:
    return [
        f"Serving {folder} until Ctrl-C.",
        f"  deployment    {served.url}",
        f"  leaderboard   {served.site_url}/api/leaderboard.json",
        f"  badges        {served.site_url}/api/badge/MODEL.svg",
        "  publish       cli publish --to local" if own else f"  token         {folder / 'token'}",
    ]


def _places(served: Served) -> Table:
    from convex_evals.render.model import Column, Table

    columns = [Column("data", None), Column("url", None), Column("site_url", None)]
    return Table.of(columns, [[str(served.data), served.url, served.site_url]])
