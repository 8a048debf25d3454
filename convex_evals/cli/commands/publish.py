"""`cli publish`"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    calls_option,
    collect,
    delivery_options,
    deployment_option,
    open_delivery,
    output_option,
    print_result,
    runs_dir_option,
    suite_path,
)
from convex_evals.render.formats import DEFAULT
from convex_evals.render.output import complain, say

if TYPE_CHECKING:
    from convex_evals.publish.deployments import Deployment
    from convex_evals.publish.published import Published
    from convex_evals.render.model import Row, Section


@dataclass(frozen=True)
class Options:
    """All of this command."""

    names: tuple[str, ...]
    to: str | None
    since: str | None
    dry_run: bool
    repair: bool
    concurrency: int
    commit: bool
    push: bool
    runs_dir: Path | None
    form: str


def _day(ctx: click.Context, option: click.Parameter, value: str | None) -> str | None:
    try:
        return value and date.fromisoformat(value).isoformat()
    except ValueError:
        raise click.BadParameter(f"'{value}' is no day; write YYYY-MM-DD") from None


@click.command()
@click.argument("names", metavar="[RUN]...", nargs=-1)
@deployment_option
@click.option("--since", metavar="DATE", callback=_day, help="Without RUN: only runs from this day on (YYYY-MM-DD).")
@click.option("--dry-run", is_flag=True, help="Check everything and say what would be sent; send nothing.")
@click.option("--repair", is_flag=True, help="Send again what the ledger says is there and the deployment has not.")
@calls_option
@delivery_options
@runs_dir_option
@output_option
@collect("options", Options)
@click.pass_context
def publish(ctx: click.Context, options: Options) -> int:
    """Send committed runs to a leaderboard deployment, each trial exactly once.

    Without RUN, all complete runs that were not published to it yet. Deployments are named in convex-evals.yaml
    (`deployments:`), with the variable that holds the token; CONVEX_EVAL_URL and CONVEX_AUTH_TOKEN are the default.
    `local` is the leaderboard on this machine, which `cli leaderboard serve` shows.
    What was sent stands in runs/.../published/NAME.json, which --commit commits. Repeat the command after an
    interruption: it asks the deployment what is there, and sends what is missing.

    \b
    Examples:
      cli publish --to local
      cli publish --dry-run
      cli publish default-1a2b3c4d --to prod --commit --push
      cli publish --since 2026-11-01 --to https://happy-otter-123.convex.cloud
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.publish.open_deployment import is_local, open_deployment
    from convex_evals.publish.publisher import Publisher, PublishOptions
    from convex_evals.render.terminal import Display
    from convex_evals.runs.request import load_environment

    workspace = open_workspace(suite_path(ctx), options.runs_dir, Path.cwd())
    load_environment(workspace.home)
    if options.commit and is_local(workspace.home, options.to):
        raise UserError("--commit: the ledgers of the local leaderboard are beside its data, not in the repository")
    deliver = not options.dry_run
    delivery = open_delivery(workspace.runs_dir, options.commit and deliver, options.push and deliver)
    chosen = PublishOptions(options.names, options.since, options.dry_run, options.repair, options.concurrency)

    async def send(display: Display) -> tuple[Deployment, Sequence[Published]]:
        async with open_deployment(workspace.home, options.to, display.preparing, display.warn) as deployment:
            return deployment, await Publisher(workspace, deployment, chosen, display).publish()

    try:
        with Display() as display:
            deployment, found = asyncio.run(send(display))
    except KeyboardInterrupt:
        say("The same command resumes: it asks what is there, and sends what is missing.", err=True)
        raise
    print_result(
        options.form,
        _section(found, deployment, options.dry_run),
        lambda: {
            "deployment": deployment.name,
            "url": deployment.url,
            "dry_run": options.dry_run,
            "runs": [each.to_data() for each in found],
        },
    )
    sent = [each.run for each in found if each.trials]
    if delivery and sent:
        for line in delivery.deliver_ledgers(sent, deployment.name):
            say(line, err=options.form != DEFAULT)
    failures = [line for each in found for line in each.failures]
    for line in failures:
        complain(line)
    return ExitCode.USER_ERROR if failures else ExitCode.OK


def _section(found: Sequence[Published], deployment: Deployment, dry_run: bool) -> Section:
    from convex_evals.render.model import Column, Section, Table
    from convex_evals.text import counted

    columns = [
        Column("run_id", "run", is_id=True),
        Column("date", "date", right=True),
        Column("model", "model", is_id=True, right=True),
        Column("experiment", "experiment", right=True),
        Column("evals", "evals", right=True),
        Column("trials", "trials", right=True),
        Column("result", "result"),
    ]
    rows: list[Row] = []
    for each in found:
        plan = each.run.plan
        size = len(plan.evals), plan.trials
        rows.append([plan.run_id, plan.date, plan.model, plan.experiment, *size, each.result()])
    if not rows:
        return Section.of(f"{deployment.name}: every complete run is published already.")
    trials = sum(len(each.trials) for each in found)
    what = "Nothing was sent (--dry-run)" if dry_run else f"{counted(trials, 'trial')} on {deployment.url}"
    return Section.of(Table.of(columns, rows), f"{what}.")
