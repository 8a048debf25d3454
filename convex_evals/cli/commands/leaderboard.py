"""`cli leaderboard`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.numbers import WholeNumber
from convex_evals.cli.options import (
    collect,
    only_experiment_option,
    output_option,
    own_home,
    print_lines,
    print_result,
    runs_dir_option,
    suite_path,
    tell_left_out,
)
from convex_evals.cli.serving import until_stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.analysis.gains import Gain
    from convex_evals.analysis.ranking import Leaderboard
    from convex_evals.config import Workspace
    from convex_evals.publish.local import Served
    from convex_evals.render.model import Section, Table
    from convex_evals.store.runs import RunStore


@dataclass(frozen=True)
class LeaderboardOptions:
    """Which runs are ranked, and how that is shown."""

    experiment: str | None
    benchmark: str | None
    shared: tuple[str, str] | None
    latest: int
    everything: bool
    before: Path | None
    runs_dir: Path | None
    form: str


@click.group(invoke_without_command=True)
@only_experiment_option
@click.option("-b", "--benchmark", metavar="NAME", help="Rank the runs of this benchmark.")
@click.option("--shared", nargs=2, metavar="NAME NAME", help="Rank by the evals that two benchmarks share.")
@click.option(
    "--runs",
    "latest",
    type=WholeNumber(1, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="How many of a model's latest runs count.",
)
@click.option("--all", "everything", is_flag=True, help="Also list the runs that are not ranked, with the reason.")
@click.option(
    "--changes-since",
    "before",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show only what has changed since FILE, which `cli leaderboard --json` wrote.",
)
@runs_dir_option
@output_option
@collect("options", LeaderboardOptions)
@click.pass_context
def leaderboard(ctx: click.Context, options: LeaderboardOptions) -> int:
    """Rank models by the pass rate of their latest complete runs, under each experiment.

    Only like is ranked with like, within one benchmark: the same evals, graders, guidelines, prompt and backend. It is
    the newest one that `cli benchmark mint` named and that has runs, else the one that most models ran. Below, each
    experiment is compared with that without guidelines, model by model, over the evals that both judge alike. Equal
    pass rates share a rank; a reply that several runs used counts once. Never ranked, but counted with the reason:
    synthetic and incomplete runs, drafts (uncommitted changes to the suite), and runs of other benchmarks.

    \b
    Examples:
      cli leaderboard
      cli leaderboard -e no_guidelines --json
      cli leaderboard -b v1 -e default --all
      cli leaderboard --shared v1 v2
      cli leaderboard --changes-since yesterday.json
      cli leaderboard serve
    """
    if ctx.invoked_subcommand is not None:
        return 0
    from convex_evals.analysis.gains import gains
    from convex_evals.analysis.leaderboard_changes import changes, changes_section, read_positions
    from convex_evals.analysis.leaderboard_tables import leaderboard_to_data
    from convex_evals.config import open_workspace
    from convex_evals.store.runs import RunStore

    if options.benchmark and options.shared:
        raise click.UsageError("-b, --shared: give only one of them")
    workspace = open_workspace(suite_path(ctx), options.runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir, left_out=[])
    board = _board(workspace, store, options)
    if options.before:
        moved = changes(read_positions(options.before), board)
        print_result(options.form, changes_section(moved), lambda: [change.to_data() for change in moved])
        return tell_left_out(store)
    found = list(gains(board, workspace.config.experiments))
    section = _section(board, found, workspace, options)
    print_result(options.form, section, lambda: leaderboard_to_data(board, found, everything=options.everything))
    return tell_left_out(store)


def _board(workspace: Workspace, store: RunStore, options: LeaderboardOptions) -> Leaderboard:
    from convex_evals.analysis.leaderboard import Ranker
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.vcs.git import has_commits

    drafts = not has_commits(workspace.suite)
    ranker = Ranker(store, workspace.config, BenchmarkFolder(workspace.home), drafts, options.latest)
    if options.shared:
        first, second = map(ranker.benchmarks.read, options.shared)
        board = ranker.shared(first, second, options.experiment)
    elif options.benchmark:
        board = ranker.of(ranker.benchmarks.head(options.benchmark), options.experiment)
    else:
        board = ranker.all(options.experiment)
    return ranker.validating(board, options.experiment) if options.everything else board


def _section(board: Leaderboard, found: Sequence[Gain], workspace: Workspace, options: LeaderboardOptions) -> Section:
    from convex_evals.analysis.leaderboard_tables import leaderboard_section, no_ranking, recorded_section
    from convex_evals.render.model import Section

    section = leaderboard_section(board, found, everything=options.everything)
    if any(ranking.standings for ranking in board.rankings):
        return section
    benchmark, experiment = options.benchmark, options.experiment
    if experiment and not benchmark:
        workspace.config.experiment(experiment)  # runs may be older than the settings
    under = (f" of {benchmark}" if benchmark else "") + (f" under {experiment}" if experiment else "")
    how = "" if board.unranked else "`cli run -m MODEL` makes one, "
    none = f"No run to rank{under} in {workspace.runs_dir}; {how}`cli list` lists all."
    return Section.of(no_ranking(), none, recorded_section(board.unranked), *section.parts)


data_option = click.option(
    "--data", metavar="DIR", type=click.Path(path_type=Path), help="Folder of its data. Default: .leaderboard/."
)


@leaderboard.command()
@data_option
@click.option(
    "--port",
    type=WholeNumber(0, 65_534),
    default=3210,
    show_default=True,
    metavar="N",
    help="Port of the deployment; JSON and badges are on the next one. 0: any two that are free.",
)
@output_option
@click.pass_context
def serve(ctx: click.Context, data: Path | None, port: int, form: str) -> None:
    """Serve a leaderboard on this machine, until Ctrl-C.

    It is the app which `npx convex deploy` puts into the cloud. What is published is on the disk
    before the publisher is told so, and there again at the next start. `cli publish --to local` sends to it, and also
    works while it is not running.

    \b
    Examples:
      cli leaderboard serve
      cli leaderboard serve --data ~/scores --port 4000
    """
    import asyncio
    from contextlib import AsyncExitStack

    from convex_evals.publish.deployments import DATA
    from convex_evals.publish.local import serve as serve_data
    from convex_evals.render.output import say
    from convex_evals.render.terminal import Display

    folder = data or own_home(ctx) / DATA

    async def run() -> None:
        async with AsyncExitStack() as stack:
            with Display() as display:
                serving = serve_data(folder.absolute(), port, port and port + 1, display.preparing, display.warn)
                served = await stack.enter_async_context(serving)
            here = Path.cwd()
            shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
            print_lines(form, _where(shown, served, own=data is None), _places(served), served.to_data)
            await served.until_it_ends()

    with until_stopped():
        asyncio.run(run())
    say("Stopped; what was published is kept.", err=True)


@leaderboard.command()
@click.argument("target", metavar="FILE", type=click.Path(path_type=Path))
@data_option
@output_option
@click.pass_context
def backup(ctx: click.Context, target: Path, data: Path | None, form: str) -> None:
    """Back up the leaderboard on this machine to a zip file. Stop `cli leaderboard serve` first.

    The file contains the leaderboard's token: anyone who can read it can publish.

    \b
    Examples:
      cli leaderboard backup scores-2026-11.zip
      cli leaderboard backup /mnt/backups/scores.zip --data ~/scores
    """
    from convex_evals.publish.backups import back_up
    from convex_evals.publish.deployments import DATA
    from convex_evals.text import counted

    folder = data or own_home(ctx) / DATA
    files = back_up(folder, target)
    _print_copied(form, f"Written: {target}, with {counted(files, 'file')}.", target, folder, None)


@leaderboard.command()
@click.argument("archive", metavar="FILE", type=click.Path(path_type=Path))
@data_option
@output_option
@click.pass_context
def restore(ctx: click.Context, archive: Path, data: Path | None, form: str) -> None:
    """Replace the data of the leaderboard with a backup. The old data are kept in a folder beside them.

    \b
    Examples:
      cli leaderboard restore scores-2026-11.zip
      cli leaderboard restore scores-2026-11.zip --data /tmp/look
    """
    from convex_evals.publish.backups import restore as restore_data
    from convex_evals.publish.deployments import DATA

    folder = data or own_home(ctx) / DATA
    before = restore_data(archive, folder)
    kept = f" What was there is kept in {before}." if before else ""
    _print_copied(form, f"Restored: {folder}.{kept}", archive, folder, before)


def _print_copied(form: str, line: str, archive: Path, data: Path, before: Path | None) -> None:
    from convex_evals.render.model import Column, Table

    facts = {"file": str(archive), "data": str(data), "kept": str(before) if before else None}
    print_lines(form, [line], Table.of([Column(name, None) for name in facts], [[*facts.values()]]), lambda: facts)


def _where(folder: Path, served: Served, *, own: bool) -> list[str]:
    return [
        f"Serving {folder} until Ctrl-C.",
        f"  deployment    {served.url}",
        f"  leaderboard   {served.site_url}/api/leaderboard.json",
        f"  badges        {served.site_url}/api/badge/MODEL.svg",
        f"  exports       {served.site_url}/api/export?format=openai",
        "  publish       cli publish --to local" if own else f"  token         {folder / 'token'}",
    ]


def _places(served: Served) -> Table:
    from convex_evals.render.model import Column, Table

    columns = [Column("data", None), Column("url", None), Column("site_url", None)]
    return Table.of(columns, [[str(served.data), served.url, served.site_url]])
