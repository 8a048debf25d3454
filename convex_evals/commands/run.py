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
    from convex_evals.config import Workspace
    from convex_evals.display import Display
    from convex_evals.plan import Request
    from convex_evals.records import Summary
    from convex_evals.store.runs import Run, RunStore


@click.command()
@click.option(
    "-m", "--model", required=True, metavar="MODEL", help="Who answers. `reference`: the suite's own answers."
)
@filter_options
@workers_option
@click.option(
    "--trials",
    type=click.IntRange(1, 100),
    default=1,
    show_default=True,
    metavar="K",
    help="Trials per eval.",
)
@click.option("--fresh", is_flag=True, help="Start a new run even where the same one is there already.")
@click.option("--fail-on-failure", is_flag=True, help="Exit with 4 unless every trial passed.")
@runs_dir_option
@json_option
@click.pass_context
def run(
    ctx: click.Context,
    model: str,
    pattern: str | None,
    categories: tuple[str, ...],
    workers: int | None,
    trials: int,
    fresh: bool,
    fail_on_failure: bool,
    runs_dir: Path | None,
    as_json: bool,
) -> int:
    """Ask a model, grade its answers, write the results to runs/.

    An interrupted run goes on where it stopped when the same command is given again; a complete one is shown.

    \b
    Examples:
      cli run --model reference
      cli run -m reference -c queries -f pagination
      cli -C ../other-suite run -m reference --runs-dir elsewhere/runs
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.display import Display
    from convex_evals.errors import ExitCode
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    request = _request(workspace, model, pattern, categories, trials)
    store = RunStore(workspace.runs_dir)
    with Display() as display:
        try:
            done, summary = asyncio.run(_complete(workspace, request, store, workers, fresh, display))
        except KeyboardInterrupt:
            display.warn("stopped; the same command goes on where it was")
            raise
    _report(done, summary, as_json)
    if fail_on_failure and (summary is None or summary.counts.passed < sum(summary.counts.model_dump().values())):
        return ExitCode.EVALS_FAILED
    return ExitCode.OK


def _request(
    workspace: Workspace, model: str, pattern: str | None, categories: tuple[str, ...], trials: int
) -> Request:
    import secrets
    from datetime import UTC, datetime

    from convex_evals.generate.models import find_answerer
    from convex_evals.git import clean_commit
    from convex_evals.plan import Request
    from convex_evals.suite import load_suite, refuse_incomplete

    experiment = "default"
    evals = load_suite(workspace.suite).select(pattern, categories)
    refuse_incomplete(evals)
    return Request(
        answerer=find_answerer(model),
        evals=evals,
        trials=trials,
        experiment=experiment,
        run_id=f"{experiment}-{secrets.token_hex(4)}",
        date=datetime.now(UTC).date().isoformat(),
        suite_commit=clean_commit(workspace.suite),
    )


async def _complete(
    workspace: Workspace,
    request: Request,
    store: RunStore,
    workers: int | None,
    fresh: bool,
    display: Display,
) -> tuple[Run, Summary | None]:
    from convex_evals.grade.setup import ready_grader
    from convex_evals.plan import make_plan
    from convex_evals.results import headline
    from convex_evals.runner import Runner, TrialDone
    from convex_evals.store.journal import Journal

    def show(done: TrialDone) -> None:
        verdict = done.verdict
        name = done.eval_id if request.trials == 1 else f"{done.eval_id} #{done.trial}"
        note = "" if verdict.caught_by is None else f"{verdict.caught_by}: {headline(verdict.reason)}"
        display.item(verdict.outcome.value, name, verdict.duration_ms / 1000, "done before" if done.reused else note)

    count = workers or workspace.workers
    async with ready_grader(workspace.suite, workspace.config, count, display.preparing, display.warn) as grader:
        plan = await make_plan(request, grader)
        # A run that is not complete goes on only with the toolchain that it says it was graded with.
        earlier = [] if fresh else store.same_work(plan)
        usable = (r for r in earlier if r.is_complete or r.plan.toolchain == plan.toolchain)
        run = next(usable, None) or store.create(plan)
        summary = run.summary()
        if summary:
            return run, summary
        display.start(f"grading {request.answerer.model}", len(request.evals) * request.trials)
        runner = Runner(run, Journal(workspace.journal_dir, run.plan.run_id), request.answerer, grader, show)
        return run, await runner.complete({e.id: e for e in request.evals})


def _report(run: Run, summary: Summary | None, as_json: bool) -> None:
    from convex_evals.results import category_table, run_to_json

    if as_json:
        click.echo(run_to_json(run, summary), nl=False)
        return
    if summary is None:
        click.echo("Some trials could not be scored; give the same command again to try them again.")
    else:
        click.echo(category_table(summary))
    click.echo(f"Results: {run.folder}")
    click.echo(f"Look at them: cli show {run.plan.run_id}")
