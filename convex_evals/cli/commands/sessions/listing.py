"""`cli sessions list` and `show`"""

from __future__ import annotations

import click

from convex_evals.cli.commands.sessions.shared import Conditions, filter_options, open_store, opened_index
from convex_evals.cli.numbers import WholeNumber
from convex_evals.cli.options import collect, output_option, print_lines, print_result
from convex_evals.render.formats import FORMATS

_MOST = 50


@click.command("list")
@filter_options()
@click.option(
    "--limit",
    type=WholeNumber(1),
    metavar="N",
    help=f"At most so many. Default: {_MOST} for people, all for machines.",
)
@collect("chosen", Conditions)
@output_option
@click.pass_context
def list_(ctx: click.Context, chosen: Conditions, limit: int | None, form: str) -> None:
    """List sessions, the newest first.

    \b
    Examples:
      cli sessions list
      cli sessions list --status needs_review --search cronJobs
      cli sessions list --eval-ready --tag crons --json
    """
    from convex_evals.render.model import Section
    from convex_evals.sessions.listing import entries_table
    from convex_evals.text import counted

    store, wanted = open_store(ctx), chosen.filter()
    if limit is None and not FORMATS[form].for_machines:
        limit = _MOST
    with opened_index(store) as index:
        entries, all_of_them = index.find_counted(wanted, limit)
    left = all_of_them - len(entries)
    if entries or FORMATS[form].for_machines:
        more = f"{counted(left, 'more session')}; --limit {len(entries) + left} lists all." if left else ""
        section = Section.of(entries_table(entries), more)
    elif chosen.is_empty:
        section = Section.of(f"No sessions in {store.root} yet; `cli sessions import` reads those of this machine.")
    else:
        section = Section.of("No such session; `cli sessions list` lists all.")
    print_result(form, section)


@click.command()
@click.argument("name", metavar="ID")
@click.option("--full", is_flag=True, help="On a terminal: what tools were told and answered, and reasoning, in full.")
@output_option
@click.pass_context
def show(ctx: click.Context, name: str, full: bool, form: str) -> None:
    """Show a session: where it is from, its label, and what was said.

    ID is the beginning of a session's id, at least four digits. Calls of tools and their results are one line each.
    As JSON: the session, its label and all messages; as CSV: the messages.

    \b
    Examples:
      cli sessions show 3fa1
      cli sessions show 3fa1 --full
      cli sessions show 3fa1 --json | jq .conversation
    """
    from convex_evals.sessions.labels import read_label
    from convex_evals.sessions.transcript import head_lines, message_lines, messages_table, session_to_data

    store = open_store(ctx)
    session = store.read(store.resolve(name))
    label, messages = read_label(store, session.id), list(store.messages(session.id))
    lines = [*head_lines(session, label), *message_lines(messages, full=full)]
    print_lines(form, lines, messages_table(messages), lambda: session_to_data(session, label, messages))
