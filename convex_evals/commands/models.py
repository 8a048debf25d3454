"""`cli models`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.commands.options import json_option, suite_path

if TYPE_CHECKING:
    from convex_evals.records.models import ModelEntry


@click.group()
def models() -> None:
    """The models of models.yaml: list them, show one, ask one for a sign of life.

    \b
    Examples:
      cli models list
      cli models show claude-sonnet-5
      cli models check claude-sonnet-5
    """


@models.command("list")
@json_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List the models of models.yaml."""
    import json

    from convex_evals.results import table

    entries = _entries(ctx)
    if as_json:
        click.echo(json.dumps([e.model_dump(mode="json") for e in entries], indent=2))
        return
    if not entries:
        click.echo("No models.yaml here, or none in it; docs/running.md shows how to write one.")
        return
    rows = [
        [e.slug, e.name or e.slug, e.first_seen.isoformat() if e.first_seen else "", " ".join(e.tags)] for e in entries
    ]
    click.echo(table(["slug", "name", "first seen", "tags"], rows))


@models.command()
@click.argument("name", metavar="MODEL")
@json_option
@click.pass_context
def show(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show one model: how it is asked, and what it costs."""
    import json

    from convex_evals.generate.price import can_search, most_output_tokens, tariff_of
    from convex_evals.models import find_model

    entry = find_model(name, _entries(ctx))
    price = tariff_of(entry).price
    data = {
        **entry.model_dump(mode="json"),
        "price": price.model_dump(mode="json") if price else None,
        "most_output_tokens": most_output_tokens(entry),
        "web_search": can_search(entry),
    }
    if as_json:
        click.echo(json.dumps(data, indent=2))
        return
    for key, value in data.items():
        if key == "price":
            value = f"${price.input:g} in, ${price.output:g} out, per million tokens" if price else "not known"
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items() if v is not None)
        if value not in (None, [], ""):
            click.echo(f"{key:20} {' '.join(value) if isinstance(value, list) else value}")


@models.command()
@click.argument("names", metavar="MODEL...", nargs=-1, required=True)
@json_option
@click.pass_context
def check(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> int:
    """Send one tiny request to each MODEL, and tell how long it took and whether its price is known.

    Exit code 1 if one does not answer.
    """
    import asyncio
    import json

    from convex_evals.errors import ExitCode
    from convex_evals.generate.check import check_model
    from convex_evals.models import find_model

    entries = _entries(ctx)
    chosen = [find_model(name, entries) for name in names]
    found = [asyncio.run(check_model(entry)) for entry in chosen]
    if as_json:
        click.echo(json.dumps([f.to_json() for f in found], indent=2))
    else:
        for f in found:
            click.echo(f.line())
    return ExitCode.OK if all(f.fault is None for f in found) else ExitCode.USER_ERROR


def _entries(ctx: click.Context) -> tuple[ModelEntry, ...]:
    from convex_evals.config import open_workspace
    from convex_evals.models import load_models
    from convex_evals.order import load_environment

    parent = ctx.parent.parent if ctx.parent else None
    workspace = open_workspace(suite_path(parent or ctx), None, Path.cwd())
    load_environment(workspace.home)
    return load_models([workspace.home, workspace.suite])
