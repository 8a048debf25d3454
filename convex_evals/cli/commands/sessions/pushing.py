"""`cli sessions push`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.commands.sessions.shared import open_store
from convex_evals.cli.options import STATUSES, calls_option, deployment_option, output_option, own_home, print_result
from convex_evals.render.output import complain, say

if TYPE_CHECKING:
    from convex_evals.publish.deployments import Deployment
    from convex_evals.publish.session_pusher import PushedSessions
    from convex_evals.render.model import Row, Section


@click.command()
@deployment_option
@click.option("--status", type=click.Choice(STATUSES), metavar="STATUS", help="Only sessions of this status.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only with this tag; repeat it for several.")
@click.option("--prune", is_flag=True, help="Also remove sessions from there that are not in this folder.")
@click.option("--dry-run", is_flag=True, help="Ask what is there and say what would be done; change nothing.")
@calls_option
@output_option
@click.pass_context
def push(
    ctx: click.Context,
    to: str | None,
    status: str | None,
    tags: tuple[str, ...],
    prune: bool,
    dry_run: bool,
    concurrency: int,
    form: str,
) -> int:
    """Send the sessions that are marked as evals to a leaderboard deployment, which serves their exports.

    Afterwards the deployment has exactly those sessions of this folder, each once, as they are labelled here, or those
    of them that --status and --tag choose: others are withdrawn from it. It also gets the hashes of keys/, and
    answers requests with such a key:

    \b
      curl -H "Authorization: Bearer osk_your_api_key" \\
        "https://your-convex.convex.site/api/export?format=deepeval&status=golden"

    \b
    Examples:
      cli sessions push --to local
      cli sessions push --dry-run
      cli sessions push --status golden --to prod
    """
    import asyncio

    from convex_evals.errors import ExitCode
    from convex_evals.publish.open_deployment import open_deployment
    from convex_evals.publish.session_pusher import PushOptions, SessionPusher
    from convex_evals.records.session import SessionStatus
    from convex_evals.render.terminal import Display
    from convex_evals.runs.request import load_environment
    from convex_evals.sessions.index import SessionFilter

    store = open_store(ctx)
    home = own_home(ctx)
    load_environment(home)
    wanted = SessionFilter(status=SessionStatus(status) if status else None, tags=tags, ready=True)
    options = PushOptions(wanted, dry_run=dry_run, prune=prune, concurrency=concurrency)

    async def send(display: Display) -> tuple[Deployment, PushedSessions]:
        async with open_deployment(home, to, display.preparing, display.warn) as deployment:
            return deployment, await SessionPusher(store, deployment, options, display).push()

    try:
        with Display() as display:
            deployment, pushed = asyncio.run(send(display))
    except KeyboardInterrupt:
        say("The same command goes on: it asks what is there, and sends what is missing.", err=True)
        raise
    print_result(form, _section(pushed, deployment, dry_run), lambda: _data(pushed, deployment, dry_run))
    _hint(pushed)
    for line in pushed.failed:
        complain(line)
    return ExitCode.USER_ERROR if pushed.failed else ExitCode.OK


def _hint(pushed: PushedSessions) -> None:
    """Say what to do about what may not have been meant."""
    if not pushed.sessions and not pushed.unchanged:
        say("no session is chosen; `cli sessions mark ID --ready` marks one as an eval", err=True)
    if pushed.unknown:
        say("--prune removes those that are not in this folder", err=True)


def _section(pushed: PushedSessions, deployment: Deployment, dry_run: bool) -> Section:
    from convex_evals.render.model import Cell, Column, Section, Table
    from convex_evals.sessions.listing import SHORT
    from convex_evals.text import counted

    columns = [Column("session", "session", is_id=True), Column("result", "result"), Column("reason", "reason")]
    rows: list[Row] = [[Cell(each.id[:SHORT], each.id), each.result, each.reason] for each in pushed.sessions]
    results = [each.result for each in pushed.sessions]
    told = [f"{results.count(result)} {result}" for result in dict.fromkeys(results)]
    told += [f"{pushed.unchanged} unchanged"] if pushed.unchanged or not told else []
    told += [f"{pushed.unknown} not of this folder"] if pushed.unknown else []
    said = f"{deployment.url}: {', '.join(told)}; {counted(pushed.keys, 'key')} {pushed.keys_result}."
    return Section.of(
        Table.of(columns, rows) if rows else None, f"Nothing is changed (--dry-run). {said}" if dry_run else said
    )


def _data(pushed: PushedSessions, deployment: Deployment, dry_run: bool) -> dict[str, Any]:
    return {
        "deployment": deployment.name,
        "url": deployment.url,
        "dry_run": dry_run,
        "sessions": [each.to_data() for each in pushed.sessions],
        "unchanged": pushed.unchanged,
        "unknown": pushed.unknown,
        "keys": {"count": pushed.keys, "result": pushed.keys_result, "reason": pushed.keys_reason},
    }
