"""`cli sessions`"""

from __future__ import annotations

import click

from convex_evals.cli.commands.sessions.check import check
from convex_evals.cli.commands.sessions.drafting import to_eval
from convex_evals.cli.commands.sessions.exporting import export
from convex_evals.cli.commands.sessions.importing import import_
from convex_evals.cli.commands.sessions.judging import judge
from convex_evals.cli.commands.sessions.labelling import label, mark
from convex_evals.cli.commands.sessions.listing import list_, show
from convex_evals.cli.commands.sessions.pushing import push


@click.group()
def sessions() -> None:
    """Make datasets of conversations with coding agents: import, label, export.

    Sessions are files in sessions/, which an import writes, and labels are files in labels/, which people review in
    pull requests. Secrets are removed before anything is written.

    \b
    Examples:
      cli sessions import --dry-run
      cli sessions import --from claude-code --since 2026-11-01
      cli sessions list --status needs_review
      cli sessions label 3fa1 --status golden --ready --tag crons
      cli sessions export --format deepeval --status golden -o golden.json
      cli sessions push --to local
      cli sessions to-eval 3fa1 --name queries/recent_orders
      cli sessions judge -m claude-sonnet-5 --budget 2
    """


for command in (import_, list_, show, mark, label, check, export, push, to_eval, judge):
    sessions.add_command(command)
