"""`cli run`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.options import (
    containment_of,
    containment_options,
    delivery_options,
    given_options,
    json_option,
    on_terminal,
    open_delivery,
    order_of,
    order_options,
    runs_dir_option,
    suite_path,
    workers_option,
)
from convex_evals.render.output import complain, say, say_json

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.models.solvers import SolverFactory
    from convex_evals.render.terminal import Display
    from convex_evals.runs.execute import Work
    from convex_evals.runs.plan import RunRequest
    from convex_evals.runs.request import Order
    from convex_evals.runs.shard import Shard
    from convex_evals.store.runs import RunStore


@click.command()
@order_options
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Do what `cli plan` wrote; repeatable.")
@click.option("--shard", metavar="I/N", help="Only the I-th of N shares of the evals, with an N-th of the budget.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend no more, whatever happens.")
@click.option("--concurrency", type=click.IntRange(1, 1000), metavar="N", help="Requests per provider at a time.")
@workers_option
@containment_options
@click.option("--dry-run", is_flag=True, help="Say what would be asked and what it may cost; ask nobody.")
@click.option("--fresh", is_flag=True, help="New replies, even where earlier runs have some.")
@click.option("--retry-unscored", is_flag=True, help="Ask again where three runs got no reply.")
@click.option("--fail-on-failure", is_flag=True, help="Exit with 4 unless every trial passed.")
@delivery_options
@runs_dir_option
@json_option
@click.pass_context
def run(
    ctx: click.Context,
    /,
    runs: tuple[str, ...],
    shard: str | None,
    budget: float | None,
    concurrency: int | None,
    dry_run: bool,
    fail_on_failure: bool,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    commit: bool,
    push: bool,
    runs_dir: Path | None,
    as_json: bool,
    **words: Any,
) -> int:
    """Ask models, grade their answers, write the results to runs/.

    The same command again goes on where it was interrupted, and pays for nothing twice: replies and verdicts whose
    inputs have not changed are taken from earlier runs.

    \b
    Examples:
      cli run -m demo
      cli run -m reference
      cli run -m claude-sonnet-5 -e default -e no_guidelines --trials 5 --budget 20
      cli run -m gpt-5 -c queries -f pagination --dry-run
      cli run --run default-1a2b3c4d --shard 3/8 --budget 40 --commit --push
      cli -C ../other-suite run -m reference --runs-dir elsewhere/runs
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.models.budget import Budget
    from convex_evals.models.catalog import load_models
    from convex_evals.models.solvers import SolverFactory
    from convex_evals.render.terminal import Display
    from convex_evals.runs.execute import Work
    from convex_evals.runs.request import load_environment
    from convex_evals.runs.shard import parse_shard
    from convex_evals.store.runs import RunStore

    containment = containment_of(sandbox, unsafe_no_sandbox)
    share = parse_shard(shard) if shard else None
    if share and not (runs or words["run_id"]):
        raise click.UsageError("--shard needs --run RUN, or --run-id and --date, so that all shards do the same run")
    order = None if runs else order_of(words, menu=on_terminal())
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    load_environment(workspace.home)
    if order and not order.models:
        from convex_evals.cli.menu import choose

        choice = choose(order, workspace, sys.argv[1:])
        order, words["fresh"] = choice.order, words["fresh"] or choice.fresh
    money = Budget(None if budget is None else budget / (share.of if share else 1))
    models = load_models(workspace.home)
    solvers = SolverFactory(models, concurrency or workspace.config.concurrency, money)
    store = RunStore(workspace.runs_dir)
    with Display() as display:
        requests = (
            _requests(order, workspace, solvers, display) if order else _planned(ctx, runs, store, workspace, solvers)
        )
        if dry_run:
            _print_estimate([_part(r, share) for r in requests] if share else requests, as_json)
            return ExitCode.OK
        delivery = open_delivery(workspace.runs_dir, commit, push)
        own = {name: words[name] for name in ("workers", "fresh", "retry_unscored")}
        work = Work(workspace, store, display, containment, **own, shard=share, final=delivery is not None)
        _do(ctx, work, requests)
    _report(work, as_json)
    if delivery:
        for line in delivery.deliver([f.run for f in work.done], shard=share):
            say(line, err=as_json)
    if work.stopped:
        return ExitCode.USER_ERROR
    return ExitCode.EVALS_FAILED if fail_on_failure and not work.all_passed else ExitCode.OK


def _requests(order: Order, workspace: Workspace, solvers: SolverFactory, display: Display) -> list[RunRequest]:
    from convex_evals.runs.request import resolve

    resolved = resolve(order, workspace, solvers)
    for line in resolved.skipped:
        display.warn(line)
    return resolved.requests


def _planned(
    ctx: click.Context, names: tuple[str, ...], store: RunStore, workspace: Workspace, solvers: SolverFactory
) -> list[RunRequest]:
    """What runs of these names planned. Raises `click.UsageError` for options that a plan has settled."""
    from convex_evals.runs.request import resolve_planned

    settled = given_options(ctx, "experiments", "pattern", "categories", "trials", "guidelines", "run_id", "day")
    if settled:
        raise click.UsageError(f"--run says what is planned; leave out {', '.join(settled)}")
    typed = ctx.params["models"]
    if len(typed) > 1 or (typed and len(names) > 1):
        raise click.UsageError("with --run, -m says where the recorded replies of one run are; give one of each")
    model = typed[0] if typed else None
    runs = {run.folder: run for run in map(store.find, names)}.values()
    return [resolve_planned(run, model, workspace, solvers) for run in runs]


def _part(request: RunRequest, shard: Shard) -> RunRequest:
    from dataclasses import replace

    ids = shard.share(e.id for e in request.evals)
    evals = [e for e in request.evals if e.id in ids]
    return replace(request, evals=evals, prompts={e.id: request.prompts[e.id] for e in evals})


def _do(ctx: click.Context, work: Work, requests: list[RunRequest]) -> None:
    import asyncio

    try:
        asyncio.run(work.do(requests))
    except KeyboardInterrupt:
        work.display.warn(f"stopped; {_same_again(ctx, work)} goes on where it was")
        raise


def _same_again(ctx: click.Context, work: Work) -> str:
    """The command that goes on, spelled out where the same one would start over."""
    import shlex

    names = [word for runner in work.runners for word in ("--run", runner.run.plan.run_id)]
    if not names or not work.fresh or ctx.params["runs"] or ctx.params["run_id"]:
        return "the same command"
    suite = ["-C", str(suite_path(ctx))] if suite_path(ctx) else []
    unsettled = (
        "budget",
        "concurrency",
        "workers",
        "sandbox",
        "unsafe_no_sandbox",
        "retry_unscored",
        "fail_on_failure",
        "commit",
        "push",
        "runs_dir",
    )
    rest = [word for option in given_options(ctx, *unsettled, "as_json") for word in _typed(ctx, option)]
    return f"`{shlex.join(['cli', *suite, 'run', *names, *rest])}`"


def _typed(ctx: click.Context, option: str) -> list[str]:
    value = next(ctx.params[p.name] for p in ctx.command.params if p.name and option in p.opts)
    return [option] if value is True else [option, str(value)]


def _report(work: Work, as_json: bool) -> None:
    import json

    from convex_evals.render.results import run_report, run_to_data, share_report

    if as_json:
        rows = [run_to_data(f.run, f.summary) for f in work.done]
        if work.shard:
            for row, finished in zip(rows, work.done, strict=True):
                row["share"] = finished.totals.model_dump(mode="json", by_alias=True)
        say_json(json.dumps(rows, indent=2))
    elif work.shard:
        name = str(work.shard)
        say("\n\n".join(share_report(f.run, f.totals, name) for f in work.done))
    else:
        say("\n\n".join(run_report(f.run, f.summary, f.so_far) for f in work.done))
    for line in work.stopped:
        complain(line)


def _print_estimate(requests: list[RunRequest], as_json: bool) -> None:
    import json

    from convex_evals.render.results import table
    from convex_evals.runs.request import estimate

    rows = [estimate(request) for request in requests]
    if as_json:
        say_json(json.dumps(rows, indent=2))
        return
    header = ["model", "experiment", "calls", "input tokens", "usual cost", "at most, without retries"]
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
    say(table(header, cells))
    say("Before reuse: what earlier runs have is not asked for again.")


def _dollars(amount: object) -> str:
    return f"${amount:,.2f}" if isinstance(amount, float) else "no price"
