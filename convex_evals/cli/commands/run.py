"""`cli run`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.invocation import (
    complete_run_options,
    model_options,
    only_option,
    pass_run_options,
    request_options,
    session_options,
    shard_option,
    trial_options,
)
from convex_evals.cli.numbers import Number
from convex_evals.cli.options import (
    containment_of,
    containment_options,
    delivery_options,
    on_terminal,
    open_delivery,
    output_option,
    print_result,
    runs_dir_option,
    workers_option,
)
from convex_evals.render.formats import DEFAULT, FORMATS
from convex_evals.render.output import complain, say
from convex_evals.runs.stage import Stage

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.grading.sandbox.choice import Containment
    from convex_evals.models.solvers import SolverFactory
    from convex_evals.render.model import Section
    from convex_evals.runs.execute import Work
    from convex_evals.runs.options import RunOptions
    from convex_evals.runs.plan import RunRequest


@click.command()
@model_options
@trial_options
@session_options
@click.option("--run", "runs", multiple=True, metavar="RUN", help="Execute a run that `cli plan` wrote; repeatable.")
@click.option("--due", is_flag=True, help="Run what `cli due` lists, the most needed first, as far as --budget goes.")
@shard_option
@only_option(Stage.ASK, Stage.GRADE)
@click.option("--budget", type=Number(0), metavar="USD", help="Hard limit on spending.")
@click.option(
    "--batch-wait",
    type=Number(0),
    metavar="MINUTES",
    help="How long to wait for models with `batch: true`; default: to the end of their batches. Exits with 5 if "
    "batches are left, whose replies the same command takes up later.",
)
@request_options
@workers_option
@containment_options
@click.option("--dry-run", is_flag=True, help="Show what would be asked and what it may cost; send no requests.")
@click.option("--fresh", is_flag=True, help="Ask for new replies, even if earlier runs have some.")
@click.option("--retry-unscored", is_flag=True, help="Ask again for trials that got no verdict in three commands.")
@click.option("--fail-on-failure", is_flag=True, help="Exit with 4 if a trial failed, and all have a verdict.")
@delivery_options
@runs_dir_option
@output_option
@pass_run_options
def run(options: RunOptions) -> int:
    """Ask models, grade their replies, and write the results to runs/.

    Repeat the command to resume an interrupted run. Nothing is paid for twice: replies and verdicts whose inputs have
    not changed are reused from earlier runs. Exit code 0 means that every trial has a verdict, passed or failed; 6 that
    some have none (no reply, not graded, over budget), and 1 that a model could not be asked at all.

    \b
    Examples:
      cli run -m demo
      cli run -m reference
      cli run -m claude-sonnet-5 -e default -e no_guidelines --trials 5 --budget 20
      cli run -m gpt-5 -c queries -f pagination --dry-run
      cli run -m gpt-5,claude-sonnet-5 --tag indexes -f '!search'
      cli run --run default-1a2b3c4d --shard 3/8 --budget 40 --commit --push
      cli run --due --budget 40 --commit --push
      cli run --run default-1a2b3c4d --only ask --budget 40
      cli run -m gpt-5 --batch-wait 30
      cli run --run default-1a2b3c4d --only grade --sandbox strict
      cli run --sessions --status golden -m gpt-5 -m claude-sonnet-5 --budget 5
      cli -C ../other-suite run -m reference --runs-dir elsewhere/runs
    """
    from convex_evals.config import open_workspace
    from convex_evals.models.budget import Budget
    from convex_evals.runs.request import make_solvers

    containment = containment_of(options.sandbox, options.unsafe_no_sandbox)
    options = complete_run_options(options, menu=on_terminal() and not options.sessions)
    workspace = open_workspace(options.suite, options.runs_dir, Path.cwd(), of_sessions=options.sessions)
    if not (options.models or options.runs or options.due):
        options = _choose(options, workspace)
    solvers = make_solvers(workspace, Budget(options.own_budget), options.concurrency, options.timeout)
    return _run(options, workspace, solvers, containment)


def _choose(options: RunOptions, workspace: Workspace) -> RunOptions:
    from convex_evals.cli.menu import Preview, choose
    from convex_evals.models.budget import Budget
    from convex_evals.runs.costs import estimate, total
    from convex_evals.runs.request import load_environment, make_solvers, resolve

    def preview(chosen: RunOptions) -> Preview:
        requests = resolve(chosen, workspace, make_solvers(workspace, Budget(chosen.own_budget))).requests
        cost = total(estimate(request, _left(request, chosen, workspace)) for request in requests)
        return Preview(sum(len(r.evals) * r.trials for r in requests), cost)

    load_environment(workspace.home)  # keys: models without one are not offered
    return choose(options, workspace, preview)


def _run(options: RunOptions, workspace: Workspace, solvers: SolverFactory, containment: Containment) -> int:
    from convex_evals.errors import ExitCode
    from convex_evals.models.solvers import without_keys
    from convex_evals.render.model import Section
    from convex_evals.render.terminal import Display
    from convex_evals.runs.due_requests import resolve_due
    from convex_evals.runs.execute import make_work
    from convex_evals.runs.request import resolve
    from convex_evals.runs.unranked import unranked_lines

    with Display() as display:
        resolved = (resolve_due if options.due else resolve)(options, workspace, solvers)
        for line in resolved.skipped:
            display.warn(line)
        if options.dry_run:
            if missing := without_keys(request.solver for request in resolved.requests):
                display.warn(missing)
            _print_estimate(resolved.requests, options, workspace)
            return ExitCode.OK
        if options.due and not resolved.requests:
            display.warn("nothing of what is due can be run" if resolved.skipped else "nothing is due")
            print_result(options.form, Section.of(), list)
            return ExitCode.OK
        unranked = unranked_lines(resolved.requests, workspace.suite)
        for line in unranked:
            display.warn(line)
        delivery = open_delivery(workspace.runs_dir, options.commit, options.push)
        work = make_work(options, workspace, display, containment)
        _do(work, _in_order(resolved.requests) if options.due else [resolved.requests], options)
    _report(work, options, unranked)
    if delivery:
        runs = [f.run for f in work.done]
        lines = delivery.deliver_attempts(runs) if options.due else delivery.deliver(runs, shard=options.shard)
        for line in lines:
            say(line, err=options.form != DEFAULT)
    failed = options.fail_on_failure and not work.all_passed
    return work.exit_code or (ExitCode.EVALS_FAILED if failed else ExitCode.OK)


def _in_order(requests: list[RunRequest]) -> list[list[RunRequest]]:
    """Group what is asked together: one model after the other, since the budget may not be enough for all of them.

    Models that are asked in batches come last and together: each takes hours.
    """
    from convex_evals.models.retries import ModelSolver

    at_once: list[RunRequest] = []
    slow: list[RunRequest] = []
    for request in requests:
        in_batches = isinstance(request.solver, ModelSolver) and request.solver.batched
        (slow if in_batches else at_once).append(request)
    return [*([request] for request in at_once), *([slow] if slow else [])]


def _do(work: Work, groups: list[list[RunRequest]], options: RunOptions) -> None:
    import asyncio

    try:
        asyncio.run(work.do(*groups))
    except KeyboardInterrupt:
        rest = options.after_interruption([runner.run.plan.run_id for runner in work.runners])
        how = "the same command" if rest is None else f"`{rest.command()}`"
        work.display.warn(f"stopped; {how} resumes it")
        raise


def _report(work: Work, options: RunOptions, unranked: Sequence[str]) -> None:
    from convex_evals.render.model import apart
    from convex_evals.runs.outcome import asked_data, asked_section
    from convex_evals.text import capitalized

    if work.only is Stage.ASK:
        print_result(options.form, apart(*map(asked_section, work.done)), lambda: [asked_data(f) for f in work.done])
    else:
        print_result(
            options.form,
            apart(*_sections(work, options), *(f"{capitalized(line)}." for line in unranked)),
            lambda: _data(work, options),
        )
    for kind, line in work.complaints:
        complain(line, kind)


def _data(work: Work, options: RunOptions) -> list[dict[str, Any]]:
    from convex_evals.analysis.totals import run_to_data
    from convex_evals.runs.outcome import retry_command

    rows = [run_to_data(f.run, f.summary) for f in work.done]
    for row, finished in zip(rows, work.done, strict=True):
        if work.shard:
            row["share"] = finished.totals.model_dump(mode="json", by_alias=True)
        else:
            row["go_on"] = retry_command(finished.run, finished.summary, options)
        if work.only:
            row["without_reply"] = finished.without_reply
        row["pending"] = finished.pending
    return rows


def _sections(work: Work, options: RunOptions) -> list[Section]:
    from convex_evals.runs.outcome import (
        closing_section,
        overview_section,
        retry_lines,
        run_section,
        share_section,
        without_reply,
    )

    if work.shard:
        sections = [share_section(f.run, f.totals, str(work.shard)) for f in work.done]
    else:
        alone, whole = len(work.done) == 1, FORMATS[options.form].for_machines
        sections = [
            run_section(
                *(f.run, f.summary, f.so_far),
                retry_lines(f.run, f.summary, options, alone=alone),
                pending=f.pending,
                alone=alone,
                whole=whole,
            )
            for f in work.done
        ]
        closing = closing_section([(f.run, f.summary) for f in work.done], options)
        overview = [] if alone or whole else [overview_section(work.done)]
        sections += [*overview, *([closing] if closing.parts and not alone else [])]
    left = without_reply([(f.run, f.without_reply) for f in work.done])
    return [*sections, left] if left.parts else sections


def _print_estimate(requests: list[RunRequest], options: RunOptions, workspace: Workspace) -> None:
    from convex_evals.render.model import Cell, Column, Row, Section, Table
    from convex_evals.runs.costs import estimate
    from convex_evals.runs.request import part_of

    parts = [part_of(r, options.shard) if options.shard else r for r in requests]
    left = [_left(part, options, workspace) for part in parts]
    columns = [
        Column("model", "model", is_id=True),
        Column("experiment", "experiment"),
        Column("trials", "trials", right=True),
        Column("reused", "have a reply", right=True),
        Column("calls", "calls", right=True),
        Column("input_tokens", "input tokens", right=True),
        Column("usual_usd", "usual cost", right=True),
        Column("most_usd", "at most, without retries", right=True),
    ]
    rows: list[Row] = []
    for part, own in zip(parts, left, strict=True):
        found, trials = estimate(part, own), len(part.evals) * part.trials
        counts = (trials, trials - sum(own.values()), found.calls, found.input_tokens)
        amounts = [Cell(_dollars(usd), usd) for usd in (found.usual_usd, found.most_usd)]
        cells = [Cell(f"{count:,}", count) for count in counts]
        rows.append([part.solver.model, part.asked.experiment, *cells, *amounts])
    print_result(options.form, Section.of(Table.of(columns, rows)))


def _left(part: RunRequest, options: RunOptions, workspace: Workspace) -> Mapping[str, int]:
    """The trials of each eval for which a model would be asked."""
    from convex_evals.runs.costs import left_to_ask
    from convex_evals.store.runs import RunStore

    if options.fresh or part.solver.synthetic:
        return {e.id: part.trials for e in part.evals}
    return left_to_ask(part, RunStore(workspace.runs_dir), workspace)


def _dollars(amount: float | None) -> str:
    return "no price" if amount is None else f"${amount:,.2f}"
