"""`cli keys`"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_result, sessions_home
from convex_evals.render.output import say

if TYPE_CHECKING:
    from convex_evals.store.api_keys import ApiKeyStore

SCOPES = ("export", "export:golden", "export:correct", "export:incorrect", "export:needs_review")
_DAYS = re.compile(r"([1-9][0-9]{0,4})d")


@click.group()
def keys() -> None:
    """Make and revoke keys of the export API, with which others take sessions from `cli view`.

    A key is shown once. keys/NAME.json has its hash, which opens nothing, and can be committed.

    \b
    Examples:
      cli keys create nightly --expires 30d
      cli keys list
      cli keys revoke nightly
    """


def _expiry(ctx: click.Context, option: click.Parameter, text: str) -> str | None:
    """The last day; None for a key that does not expire. The callback of an option."""
    if text == "never":
        return None
    found = _DAYS.fullmatch(text)
    today = datetime.now(UTC).date()
    try:
        last = today + timedelta(days=int(found[1])) if found else date.fromisoformat(text)
    except (ValueError, OverflowError):
        raise click.BadParameter(f"'{text[:40]}' is neither a number of days (90d), a day, nor `never`") from None
    if last < today:
        raise click.BadParameter(f"{last} is over")
    return last.isoformat()


@keys.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    default=("export",),
    metavar="SCOPE",
    help="What it may do: `export`, or `export:STATUS` for sessions of one status; repeatable. Default: export.",
)
@click.option(
    "--expires",
    default="90d",
    show_default=True,
    metavar="WHEN",
    callback=_expiry,
    help="Number of days (`30d`), last day (YYYY-MM-DD, UTC), or `never`.",
)
@click.pass_context
def create(ctx: click.Context, name: str, scopes: tuple[str, ...], expires: str | None) -> None:
    """Make a key and print it, once: it is written nowhere.

    \b
    Examples:
      cli keys create nightly
      cli keys create partner --scope export:golden --expires 2027-03-31
      KEY=$(cli keys create ci --expires 7d)
    """
    store = _store(ctx)
    key = store.create(name, list(dict.fromkeys(scopes)), expires)
    say(key)
    until = f"until {expires}" if expires else "until it is revoked"
    say(f"shown this once; {store.path(name)} has its hash. It opens exports {until}.", err=True)


@keys.command("list")
@output_option
@click.pass_context
def list_(ctx: click.Context, form: str) -> None:
    """List the keys, and whether they open anything."""
    from convex_evals.render.model import Column, Section, Table
    from convex_evals.store.api_keys import today

    columns = [
        Column("name", "name", is_id=True),
        Column("state", "state"),
        Column("scopes", "scopes", spare=1),
        Column("created", "created", spare=2),
        Column("expires", "expires"),
        Column("revoked", "revoked", spare=1),
    ]
    now = today()
    found = [[k.name, k.state(now).value, k.scopes, k.created, k.expires, k.revoked] for k in _store(ctx).all()]
    table = Table.of(columns, found)
    print_result(form, Section.of(table) if found or form != "terminal" else Section.of(None, "No keys."))


@keys.command()
@click.argument("name")
@click.pass_context
def revoke(ctx: click.Context, name: str) -> None:
    """Revoke a key: from now on it opens nothing. Its file stays, and says since when.

    \b
    Example:
      cli keys revoke nightly
    """
    store = _store(ctx)
    found = store.revoke(name)
    say(f"{store.path(name)}: revoked on {found.revoked}")


def _store(ctx: click.Context) -> ApiKeyStore:
    from convex_evals.store.api_keys import ApiKeyStore

    return ApiKeyStore(sessions_home(ctx))
