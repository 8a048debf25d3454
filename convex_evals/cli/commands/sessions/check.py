"""`cli sessions check`"""

from __future__ import annotations

import click

from convex_evals.cli.commands.sessions.shared import open_store
from convex_evals.cli.options import output_option, print_result


@click.command()
@output_option
@click.pass_context
def check(ctx: click.Context, form: str) -> int:
    """Check sessions and labels: what cannot be read, labels without a session, sessions that are there twice.

    Exits with 1 where anything is found, so that a workflow can refuse a pull request.

    \b
    Examples:
      cli sessions check
      cli sessions check --json
    """
    from convex_evals.errors import ExitCode
    from convex_evals.render.model import Column, Section, Table
    from convex_evals.sessions.check import problems
    from convex_evals.text import counted

    store = open_store(ctx)
    found = list(problems(store))
    table = Table.of([Column("problem", None)], [[each] for each in found])
    said = found or [f"{counted(len(store.ids()), 'session')} and their labels are in order."]
    print_result(form, Section.of(*said, table))
    return ExitCode.USER_ERROR if found else ExitCode.OK
