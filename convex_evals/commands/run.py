"""`cli run`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.commands.options import (
    filter_options,
    json_option,
    runs_dir_option,
    suite_path,
    workers_option,
)

if TYPE_CHECKING:
    from convex_evals.plan import Request
    from convex_evals.work import Work


@click.command()
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="MODEL",
    help="Who answers: a model of models.yaml, `reference` (the suite's own answers), or `replay:PATH`; "
    "repeatable.  [env: MODELS, comma-separated]",
)
@click.option(
    "-e",
    "--experiment",
    "experiments",
    multiple=True,
    metavar="NAME",
    help="How it is asked: default, no_guidelines, web_search, web_search_no_guidelines, or one of "
    "convex-evals.yaml; repeatable.  [env: EVALS_EXPERIMENT]",
)
@filter_options
@click.option("--trials", type=click.IntRange(1, 100), default=1, show_default=True, metavar="K", help="Per eval.")
@click.option(
    "--guidelines",
    metavar="PATH",
    envvar="CUSTOM_GUIDELINES_PATH",
    help="Other guidelines than the experiment's; `path@REV` reads them from Git.  [env: CUSTOM_GUIDELINES_PATH]",
)
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend no more, whatever happens.")
@click.option("--concurrency", type=click.IntRange(1, 1000), metavar="N", help="Requests per provider at a time.")
@workers_option
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it may cost; ask nobody.")
@click.option("--fresh", is_flag=True, help="New replies, even where earlier runs have some.")
@click.option("--retry-unscored", is_flag=True, help="Ask again where three runs got no reply.")
@click.option("--fail-on-failure", is_flag=True, help="Exit with 4 unless every trial passed.")
@runs_dir_option
@json_option
@click.pass_context
def run(
    ctx: click.Context,
    models: tuple[str, ...],
    experiments: tuple[str, ...],
    pattern: str | None,
    categories: tuple[str, ...],
    trials: int,
    guidelines: str | None,
    budget: float | None,
    concurrency: int | None,
    workers: int | None,
    dry_run: bool,
    fresh: bool,
    retry_unscored: bool,
    fail_on_failure: bool,
    runs_dir: Path | None,
    as_json: bool,
) -> int:
    """Ask models, grade their answers, write the results to runs/.

    The same command again goes on where it was interrupted, and pays for nothing twice: replies and verdicts whose
    inputs have not changed are taken from earlier runs.

    \b
    Examples:
      cli run -m reference
      cli run -m claude-sonnet-5 -e default -e no_guidelines --trials 5 --budget 20
      cli run -m gpt-5 -c queries -f pagination --dry-run
      cli -C ../other-suite run -m reference --runs-dir elsewhere/runs
    """
    import asyncio
    import os

    from convex_evals.config import open_workspace
    from convex_evals.display import Display
    from convex_evals.errors import ExitCode
    from convex_evals.generate.answerers import Answerers
    from convex_evals.generate.budget import Budget
    from convex_evals.models import load_models
    from convex_evals.order import Order, load_environment, resolve
    from convex_evals.store.runs import RunStore
    from convex_evals.work import Work

    names = models or _words(os.environ.get("MODELS"))
    if not names:
        raise click.UsageError("Missing option '-m' / '--model'; `-m reference` grades the suite's own answers")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    load_environment(workspace.home)
    order = Order(
        models=names,
        experiments=experiments or _words(os.environ.get("EVALS_EXPERIMENT")) or ("default",),
        pattern=pattern or os.environ.get("TEST_FILTER"),
        categories=categories,
        trials=trials,
        guidelines=guidelines,
    )
    answerers = Answerers(
        load_models([workspace.home, workspace.suite]), concurrency or workspace.config.concurrency, Budget(budget)
    )
    with Display() as display:
        resolved = resolve(order, workspace, answerers)
        for line in resolved.skipped:
            display.warn(line)
        if dry_run:
            _print_estimate(resolved.requests, as_json)
            return ExitCode.OK
        work = Work(workspace, RunStore(workspace.runs_dir), display, workers, fresh, retry_unscored)
        try:
            asyncio.run(work.do(resolved.requests))
        except KeyboardInterrupt:
            display.warn("stopped; the same command goes on where it was")
            raise
    _report(work, as_json)
    if work.stopped:
        return ExitCode.USER_ERROR
    return ExitCode.EVALS_FAILED if fail_on_failure and not work.all_passed else ExitCode.OK


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def _report(work: Work, as_json: bool) -> None:
    import json

    from convex_evals.results import run_report, run_to_data

    if as_json:
        click.echo(json.dumps([run_to_data(run, summary) for run, summary in work.done], indent=2))
    else:
        click.echo("\n\n".join(run_report(run, summary) for run, summary in work.done))
    for line in work.stopped:
        click.echo(f"error: {line}", err=True)


def _print_estimate(requests: list[Request], as_json: bool) -> None:
    import json

    from convex_evals.order import estimate
    from convex_evals.results import table

    rows = [estimate(request) for request in requests]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    header = ["model", "experiment", "calls", "input tokens", "usual cost", "at most"]
    cells = [
        [
            str(r["model"]),
            str(r["experiment"]),
            f"{r['calls']:,}",
            f"{r['input_tokens']:,}",
            _dollars(r["usual_usd"]),
            _dollars(r["most_usd"]),
        ]
        for r in rows
    ]
    click.echo(table(header, cells))


def _dollars(amount: object) -> str:
    return f"${amount:,.2f}" if isinstance(amount, float) else "no price"
