"""`cli benchmark`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    deployment_option,
    output_option,
    print_lines,
    print_result,
    read_names,
    runs_dir_option,
    suite_path,
    tell_left_out,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.config import Workspace
    from convex_evals.records.benchmark import Benchmark
    from convex_evals.store.runs import RunStore


@click.group()
def benchmark() -> None:
    """Name what scores are of: mint a benchmark, list, show and compare benchmarks.

    A benchmark is what must be equal for two scores to stand in one table: evals with their tasks and graders, the
    backend, and for each experiment its guidelines, prompt and settings. `mint` gives it a name, in
    benchmarks/NAME.yaml, and `cli leaderboard` ranks the runs of the newest one that has any.

    \b
    Examples:
      cli benchmark mint v1
      cli benchmark list
      cli benchmark diff v1 v2
    """


@benchmark.command()
@click.argument("name", metavar="NAME")
@click.option(
    "-e",
    "--experiment",
    "experiments",
    multiple=True,
    callback=read_names,
    metavar="NAME",
    help="How models are asked; several with commas, or repeated. Default: all experiments.",
)
@click.option(
    "-m",
    "--models",
    multiple=True,
    callback=read_names,
    metavar="MODEL",
    help="Curated models, which should have a run; several with commas, or repeated.",
)
@click.option(
    "--from",
    "sources",
    multiple=True,
    metavar="RUN",
    help="Mint what this run was of, not the suite as it is now; repeated, for a run of each experiment.",
)
@runs_dir_option
@output_option
@click.pass_context
def mint(
    ctx: click.Context,
    name: str,
    experiments: tuple[str, ...],
    models: tuple[str, ...],
    sources: tuple[str, ...],
    runs_dir: Path | None,
    form: str,
) -> int:
    """Write benchmarks/NAME.yaml: the suite as it is committed, with its experiments.

    It holds the fingerprints of each eval, what each experiment gives to models, and the curated models: `cli
    leaderboard` says which of them have no run yet. A benchmark never changes; `cli benchmark diff` says what a later
    one changed.

    \b
    Examples:
      cli benchmark mint v1 --models claude-sonnet-5,gpt-5
      cli benchmark mint v2 -e default,no_guidelines
      cli benchmark mint v0 --from default-1a2b3c4d --from no_guidelines-5e6f7a8b
    """
    from convex_evals.analysis.benchmarks import benchmark_to_data, experiments_table, runs_by_id, runs_under
    from convex_evals.config import open_workspace
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore
    from convex_evals.text import counted, listed

    if sources and experiments:
        raise click.UsageError("-e, --from: give only one of them; a run has its experiment")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir, left_out=[])
    found = _benchmark(workspace, store, name, models, sources, experiments)
    path = BenchmarkFolder(workspace.home).write(found)
    runs = runs_by_id(store)
    total = sum(runs_under(found, runs).values())
    lines = [
        f"{name} ({found.version[:8]}): {counted(len(found.evals), 'eval')} under {listed([*found.experiments])}; "
        f"{counted(total, 'run')} of it so far.",
        f"Written: {path}; commit it with `git add {path.relative_to(workspace.home)}`.",
    ]
    print_lines(form, lines, experiments_table(found, runs), lambda: benchmark_to_data(found, runs))
    return tell_left_out(store)


def _benchmark(
    workspace: Workspace,
    store: RunStore,
    name: str,
    models: Sequence[str],
    sources: Sequence[str],
    experiments: Sequence[str],
) -> Benchmark:
    """What `mint` writes: what runs were of, or the suite as it is. Raises `UserError`."""
    import asyncio

    from convex_evals.models.catalog import find_model, load_catalog
    from convex_evals.render.terminal import Display
    from convex_evals.runs.mint import mint_runs, mint_suite, refuse_bad_name
    from convex_evals.store.benchmarks import BenchmarkFolder

    refuse_bad_name(name)
    BenchmarkFolder(workspace.home).refuse_taken(name)
    slugs = [find_model(model, load_catalog(workspace.home)).slug for model in models]
    if sources:
        return mint_runs(name, slugs, store.find_all(sources))
    with Display() as display:
        chosen = experiments or tuple(workspace.config.experiments)
        return asyncio.run(mint_suite(name, chosen, slugs, workspace, display))


@benchmark.command(name="list")
@runs_dir_option
@output_option
@click.pass_context
def list_(ctx: click.Context, runs_dir: Path | None, form: str) -> int:
    """List the minted benchmarks, newest first, and how many complete runs each has.

    \b
    Examples:
      cli benchmark list
      cli benchmark list --json
    """
    from convex_evals.analysis.benchmarks import benchmark_to_data, benchmarks_table, runs_by_id
    from convex_evals.config import open_workspace
    from convex_evals.render.model import Section
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    folder = BenchmarkFolder(workspace.home)
    found = [folder.read(head.name) for head in folder.heads()]
    store = RunStore(workspace.runs_dir, left_out=[])
    runs = runs_by_id(store)
    table = benchmarks_table(found, runs)
    none = "No benchmark yet; `cli benchmark mint v1` names the suite as it is now."
    section = Section.of(table.if_any(), None if found else none)
    print_result(form, section, lambda: [benchmark_to_data(each, runs) for each in found])
    return tell_left_out(store)


@benchmark.command()
@click.argument("name", metavar="NAME")
@runs_dir_option
@output_option
@click.pass_context
def show(ctx: click.Context, name: str, runs_dir: Path | None, form: str) -> int:
    """Show what a benchmark is of: guidelines, backend, curated models, and each eval's fingerprints.

    \b
    Examples:
      cli benchmark show v1
      cli benchmark show v1 --format csv
    """
    from convex_evals.analysis.benchmarks import benchmark_section, benchmark_to_data, runs_by_id
    from convex_evals.config import open_workspace
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    found = BenchmarkFolder(workspace.home).read(name)
    store = RunStore(workspace.runs_dir, left_out=[])
    runs = runs_by_id(store)
    print_result(form, benchmark_section(found, runs), lambda: benchmark_to_data(found, runs))
    return tell_left_out(store)


@benchmark.command()
@click.argument("before", metavar="NAME")
@click.argument("after", metavar="NAME")
@output_option
@click.pass_context
def diff(ctx: click.Context, before: str, after: str, form: str) -> None:
    """Show what changed between two benchmarks, eval by eval.

    `cli leaderboard --shared NAME NAME` ranks by the evals that are graded alike in both.

    \b
    Examples:
      cli benchmark diff v1 v2
      cli benchmark diff v1 v2 --json
    """
    from convex_evals.analysis.benchmarks import diff_benchmarks
    from convex_evals.config import open_workspace
    from convex_evals.store.benchmarks import BenchmarkFolder

    folder = BenchmarkFolder(open_workspace(suite_path(ctx), None, Path.cwd()).home)
    found = diff_benchmarks(folder.read(before), folder.read(after))
    print_result(form, found.to_section(), found.to_data)


@benchmark.command()
@click.argument("name", metavar="NAME")
@deployment_option
@click.option("--dry-run", is_flag=True, help="Only say what would be shown there.")
@runs_dir_option
@output_option
@click.pass_context
def publish(ctx: click.Context, name: str, to: str | None, dry_run: bool, runs_dir: Path | None, form: str) -> int:
    """Mint a benchmark at a leaderboard deployment, too: only runs of minted benchmarks count there.

    Deployments show the benchmark that was minted last, unless they are asked for another. So it is said first which
    of its experiments have runs to be shown; `cli publish` sends them.

    \b
    Examples:
      cli benchmark publish v1 --dry-run
      cli benchmark publish v1
      cli benchmark publish v1 --to prod --json
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.publish.mint import publish_benchmark, shown_of
    from convex_evals.publish.open_deployment import open_deployment
    from convex_evals.render.model import Column, Table
    from convex_evals.render.terminal import Display
    from convex_evals.runs.request import load_environment
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    found = BenchmarkFolder(workspace.home).read(name)
    load_environment(workspace.home)
    store = RunStore(workspace.runs_dir, left_out=[])

    async def mint() -> tuple[str, str, list[str]]:
        with Display() as display:
            async with open_deployment(workspace.home, to, display.preparing, display.warn) as deployment:
                shown = shown_of(found, store, deployment)
                for line in shown:
                    display.note(line)
                how, unknown = await publish_benchmark(found, deployment, dry_run=dry_run)
                for line in unknown:
                    display.warn(line)
                return deployment.url, how, shown

    url, how, shown = asyncio.run(mint())
    columns = [Column("name", "benchmark", is_id=True), Column("version", "version"), Column("how", "result")]
    table = Table.of(columns, [[found.name, found.version, how]])
    lines = [f"{name} ({found.version[:8]}) on {url}: {how}."]
    data = {"name": name, "version": found.version, "url": url, "how": how, "shown": shown}
    print_lines(form, lines, table, lambda: data)
    return tell_left_out(store)
