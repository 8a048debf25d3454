"""`cli benchmark`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import (
    deployment_option,
    output_option,
    print_lines,
    print_result,
    read_name,
    read_names,
    runs_dir_option,
    suite_path,
    tell_left_out,
)


@click.group()
def benchmark() -> None:
    """Name what scores are of: mint a benchmark, list, show and compare benchmarks.

    A benchmark is what must be equal for two scores to stand in one table: evals with their tasks and graders,
    guidelines, prompt, experiment and backend. Runs carry its id. `mint` gives it a name, in benchmarks/NAME.yaml,
    and `cli leaderboard` ranks the runs of the newest one that has any.

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
    callback=read_name,
    metavar="NAME",
    help="How models are asked. Default: default, or that of the run.",
)
@click.option(
    "-m",
    "--models",
    multiple=True,
    callback=read_names,
    metavar="MODEL",
    help="Curated models, which should have a run; several with commas, or repeated.",
)
@click.option("--from", "source", metavar="RUN", help="Mint what this run was of, not the suite as it is now.")
@runs_dir_option
@output_option
@click.pass_context
def mint(
    ctx: click.Context,
    name: str,
    experiment: str | None,
    models: tuple[str, ...],
    source: str | None,
    runs_dir: Path | None,
    form: str,
) -> int:
    """Write benchmarks/NAME.yaml: the suite as it is committed, under one experiment.

    It holds the fingerprints of each eval, the hash of the guidelines, and the curated models: `cli leaderboard` says
    which of them have no run yet. A benchmark never changes; `cli benchmark diff` says what a later one changed.

    \b
    Examples:
      cli benchmark mint v1 --models claude-sonnet-5,gpt-5
      cli benchmark mint v1-bare -e no_guidelines
      cli benchmark mint v0 --from default-1a2b3c4d
    """
    import asyncio

    from convex_evals.analysis.benchmarks import benchmark_to_data, benchmarks_table, runs_by_benchmark
    from convex_evals.config import open_workspace
    from convex_evals.models.catalog import find_model, load_catalog
    from convex_evals.render.terminal import Display
    from convex_evals.runs.mint import mint_run, mint_suite, refuse_bad_name
    from convex_evals.runs.options import DEFAULT_EXPERIMENT
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore
    from convex_evals.text import counted

    if source and experiment:
        raise click.UsageError("-e, --from: give only one of them; a run has its experiment")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    folder, store = BenchmarkFolder(workspace.home), RunStore(workspace.runs_dir, left_out=[])
    refuse_bad_name(name)
    folder.refuse_taken(name)
    slugs = [find_model(model, load_catalog(workspace.home)).slug for model in models]
    if source:
        found = mint_run(name, slugs, store.find(source))
    else:
        with Display() as display:
            found = asyncio.run(mint_suite(name, experiment or DEFAULT_EXPERIMENT, slugs, workspace, display))
    path = folder.write(found)
    runs = runs_by_benchmark(store).get(found.id, 0)
    lines = [
        f"{name} ({found.id[:8]}): {counted(len(found.evals), 'eval')} under {found.experiment}; "
        f"{counted(runs, 'run')} of it so far.",
        f"Written: {path}; commit it with `git add {path.relative_to(workspace.home)}`.",
    ]
    table = benchmarks_table([found], {found.id: runs})
    print_lines(form, lines, table, lambda: benchmark_to_data(found, runs))
    return tell_left_out(store)


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
    from convex_evals.analysis.benchmarks import benchmark_to_data, benchmarks_table, runs_by_benchmark
    from convex_evals.config import open_workspace
    from convex_evals.render.model import Section
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    folder = BenchmarkFolder(workspace.home)
    found = [folder.read(head.name) for head in folder.heads()]
    store = RunStore(workspace.runs_dir, left_out=[])
    runs = runs_by_benchmark(store)
    table = benchmarks_table(found, runs)
    section = Section.of(table if found else "No benchmark yet; `cli benchmark mint v1` names the suite as it is now.")
    print_result(form, section, lambda: [benchmark_to_data(each, runs.get(each.id, 0)) for each in found])
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
    from convex_evals.analysis.benchmarks import benchmark_section, benchmark_to_data, runs_by_benchmark
    from convex_evals.config import open_workspace
    from convex_evals.store.benchmarks import BenchmarkFolder
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    found = BenchmarkFolder(workspace.home).read(name)
    store = RunStore(workspace.runs_dir, left_out=[])
    runs = runs_by_benchmark(store).get(found.id, 0)
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
@output_option
@click.pass_context
def publish(ctx: click.Context, name: str, to: str | None, form: str) -> None:
    """Mint a benchmark at a leaderboard deployment, too: only runs of minted benchmarks count there.

    \b
    Examples:
      cli benchmark publish v1
      cli benchmark publish v1 --to prod --json
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.publish.mint import publish_benchmark
    from convex_evals.publish.open_deployment import open_deployment
    from convex_evals.render.model import Column, Table
    from convex_evals.render.terminal import Display
    from convex_evals.runs.request import load_environment
    from convex_evals.store.benchmarks import BenchmarkFolder

    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    found = BenchmarkFolder(workspace.home).read(name)
    load_environment(workspace.home)

    async def mint() -> tuple[str, str]:
        with Display() as display:
            async with open_deployment(workspace.home, to, display.preparing, display.warn) as deployment:
                return deployment.url, await publish_benchmark(found, deployment)

    url, how = asyncio.run(mint())
    columns = [Column("name", "benchmark", is_id=True), Column("id", "id"), Column("how", "result")]
    table = Table.of(columns, [[found.name, found.id, how]])
    lines = [f"{name} ({found.id[:8]}) on {url}: {how}."]
    print_lines(form, lines, table, lambda: {"name": name, "id": found.id, "url": url, "how": how})
