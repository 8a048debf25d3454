"""What commands have in common that send runs to a deployment, or take them back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from convex_evals.cli.options import open_delivery, print_result
from convex_evals.render.formats import DEFAULT
from convex_evals.render.output import complain, say

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.errors import ExitCode
    from convex_evals.publish.deployments import Deployment
    from convex_evals.publish.published import Published
    from convex_evals.render.terminal import Display
    from convex_evals.runs.delivery import Delivery


def open_ledger_delivery(workspace: Workspace, to: str | None, commit: bool, push: bool) -> Delivery | None:
    """Where ledgers are committed; None where they are not. Raises `UserError`."""
    from convex_evals.errors import UserError
    from convex_evals.publish.open_deployment import is_local

    if (commit or push) and is_local(workspace.home, to):
        raise UserError(
            f"{'--commit' if commit else '--push'}: the ledgers of the local leaderboard are beside its data, not in "
            "the repository"
        )
    return open_delivery(workspace.runs_dir, commit, push)


def with_deployment(
    workspace: Workspace, to: str | None, work: Callable[[Deployment, Display], Awaitable[list[Published]]]
) -> tuple[Deployment, list[Published]]:
    """Do what is to be done with the deployment that `--to` names. Raises `UserError`."""
    import asyncio

    from convex_evals.publish.open_deployment import open_deployment
    from convex_evals.render.terminal import Display

    async def opened(display: Display) -> tuple[Deployment, list[Published]]:
        async with open_deployment(workspace.home, to, display.preparing, display.warn) as deployment:
            return deployment, await work(deployment, display)

    with Display() as display:
        return asyncio.run(opened(display))


def print_runs(form: str, found: Sequence[Published], deployment: Deployment, dry_run: bool, line: str) -> None:
    """What became of each run, with `line` below; of none, `line` alone."""
    from convex_evals.publish.published import runs_table
    from convex_evals.render.model import Section

    print_result(
        form,
        Section.of(runs_table(found), line) if found else Section.of(line),
        lambda: {
            "deployment": deployment.name,
            "url": deployment.url,
            "dry_run": dry_run,
            "runs": [each.to_data() for each in found],
        },
    )


def deliver_ledgers(
    delivery: Delivery | None, found: Sequence[Published], deployment: Deployment, verb: str, form: str
) -> None:
    """Commit the ledgers of those of which something was done, where that was asked for."""
    runs = [each.run for each in found if each.trials]
    if delivery and runs:
        for line in delivery.deliver_ledgers(runs, deployment.name, verb):
            say(line, err=form != DEFAULT)


def complain_of(found: Sequence[Published], failing: ExitCode) -> ExitCode:
    """Say what failed; the exit code, which is `failing` where anything did."""
    from convex_evals.errors import ExitCode

    failures = [line for each in found for line in each.failures]
    for line in failures:
        complain(line)
    return failing if failures else ExitCode.OK
