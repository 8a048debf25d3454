"""`cli publish`"""

from __future__ import annotations

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
    output_option,
    runs_dir_option,
    suite_path,
    tell_left_out,
)
from convex_evals.cli.publishing import complain_of, deliver_ledgers, open_ledger_delivery, print_runs, with_deployment
from convex_evals.render.output import say

if TYPE_CHECKING:
    from convex_evals.publish.deployments import Deployment
    from convex_evals.publish.published import Published
    from convex_evals.render.terminal import Display
    from convex_evals.store.runs import RunStore


@dataclass(frozen=True)
class Options:
    """All of this command."""

    names: tuple[str, ...]
    to: str | None
    since: str | None
    dry_run: bool
    repair: bool
    verify: bool
    mint: bool
    all: bool
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
@click.option(
    "--verify",
    is_flag=True,
    help="Send nothing: compare what was published with what is there, files included. Exit code 4 if it differs.",
)
@click.option("--all", is_flag=True, help="Without RUN: also runs of no minted benchmark, such as partial ones.")
@click.option("--mint", is_flag=True, help="First mint there what these runs are of, as far as it has a name here.")
@calls_option
@delivery_options
@runs_dir_option
@output_option
@collect("options", Options)
@click.pass_context
def publish(ctx: click.Context, options: Options) -> int:
    """Send committed runs to a leaderboard deployment, each trial exactly once.

    Without RUN, all complete runs of minted benchmarks (`cli benchmark mint`) that were not published to it yet.
    Deployments are named in convex-evals.yaml (`deployments:`), with the variable that holds the token;
    CONVEX_EVAL_URL and CONVEX_AUTH_TOKEN are the default. `local` is the leaderboard on this machine, which
    `cli leaderboard serve` shows.
    What was sent stands in runs/.../published/NAME.json, which --commit commits. Repeat the command after an
    interruption: it asks the deployment what is there, and sends what is missing.

    \b
    Examples:
      cli publish --dry-run
      cli publish default-1a2b3c4d --to prod --commit --push
      cli publish --mint --to local
      cli publish --verify --to prod
      cli publish --since 2026-11-01 --to https://happy-otter-123.convex.cloud
    """
    import os

    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.publish.publisher import Publisher, PublishOptions
    from convex_evals.publish.refusals import why_guarded
    from convex_evals.runs.request import load_environment
    from convex_evals.store.runs import RunStore

    sends = not (options.dry_run or options.verify)
    for other in ("dry_run", "repair", "mint", "commit", "push"):
        if options.verify and getattr(options, other):
            raise click.UsageError(f"--verify, --{other.replace('_', '-')}: give only one of them")
    workspace = open_workspace(suite_path(ctx), options.runs_dir, Path.cwd())
    load_environment(workspace.home)
    delivery = open_ledger_delivery(workspace, options.to, options.commit and sends, options.push and sends)
    chosen = PublishOptions(
        names=options.names,
        since=options.since,
        dry_run=options.dry_run,
        repair=options.repair,
        concurrency=options.concurrency,
        verify=options.verify,
        all=options.all,
        mint=options.mint,
    )

    store = RunStore(workspace.runs_dir, left_out=[])

    async def publish_to(deployment: Deployment, display: Display) -> list[Published]:
        return await Publisher(workspace, deployment, chosen, display, store).publish()

    try:
        deployment, found = with_deployment(workspace, options.to, publish_to)
    except KeyboardInterrupt:
        if sends:
            say("The same command resumes: it asks what is there, and sends what is missing.", err=True)
        raise
    print_runs(options.form, found, deployment, options.dry_run, _last_line(found, deployment, options, store))
    guarded = why_guarded(deployment, os.environ) if options.dry_run else None
    if guarded:
        say(f"note: without --dry-run, this is refused here: {guarded}", err=True)
    deliver_ledgers(delivery, found, deployment, "publish", options.form)
    unread = tell_left_out(store)
    return complain_of(found, ExitCode.EVALS_FAILED if options.verify else ExitCode.USER_ERROR) or unread


def _last_line(found: list[Published], deployment: Deployment, options: Options, store: RunStore) -> str:
    from convex_evals.text import counted

    count = sum(len(each.trials) for each in found)
    trials = f"{counted(count, 'trial')} on {deployment.url}"
    if options.verify:
        same = f"{trials} {'is' if count == 1 else 'are'} as here."
        return same if found else f"{deployment.name}: nothing was published to it yet."
    if not found:
        return f"{deployment.name}: {_why_nothing(store)}."
    return "Nothing was sent (--dry-run)." if options.dry_run else f"{trials}."


def _why_nothing(store: RunStore) -> str:
    """Why no run was looked at, though none was named."""
    runs = list(store.all())
    if any(not run.plan.synthetic for run in runs):
        return "every complete run is published already"
    return "no run to publish: " + (f"{len(runs)} synthetic, for which no model was asked" if runs else "none is here")
