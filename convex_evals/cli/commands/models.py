"""`cli models`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import json_option, suite_path
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.records.models import ModelEntry


@click.group()
def models() -> None:
    """List the models of models.yaml, show one, or check that one answers.

    \b
    Examples:
      cli models list
      cli models show claude-sonnet-5
      cli models check claude-sonnet-5 --smoke
    """


@models.command("list")
@json_option
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """List the models of models.yaml."""
    import json

    from convex_evals.render.results import table

    entries = _entries(ctx)
    if as_json:
        say_json(json.dumps([e.model_dump(mode="json") for e in entries], indent=2))
        return
    if not entries:
        say("No models: models.yaml is missing or empty; docs/running.md shows how to write it.")
        return
    rows = [
        [e.slug, e.name or e.slug, e.first_seen.isoformat() if e.first_seen else "", " ".join(e.tags)] for e in entries
    ]
    say(table(["slug", "name", "first seen", "tags"], rows))


@models.command()
@click.argument("name", metavar="MODEL")
@json_option
@click.pass_context
def show(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show one model: its settings and its price."""
    import json

    from convex_evals.models.catalog import find_model
    from convex_evals.models.price import can_search, most_output_tokens, tariff_of

    entry = find_model(name, _entries(ctx))
    price = tariff_of(entry).price
    data = {
        **entry.model_dump(mode="json"),
        "price": price.model_dump(mode="json") if price else None,
        "most_output_tokens": most_output_tokens(entry),
        "web_search": can_search(entry),
    }
    if as_json:
        say_json(json.dumps(data, indent=2))
        return
    for key, value in data.items():
        if key == "price":
            value = f"${price.input:g} in, ${price.output:g} out, per million tokens" if price else "not known"
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items() if v is not None)
        if value not in (None, [], ""):
            say(f"{key:20} {' '.join(value) if isinstance(value, list) else value}")


@models.command()
@click.argument("names", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "--smoke", is_flag=True, help="Also run two evals with each model that answered. Do this before adding a model."
)
@json_option
@click.pass_context
def check(ctx: click.Context, names: tuple[str, ...], smoke: bool, as_json: bool) -> int:
    """Send one tiny request to each MODEL, and report how long it took and whether its price is known.

    Exit code 1 if a model does not answer. With --smoke, stdout has the output of `cli run`, and the results of the
    requests go to stderr. The smoke test is a run of its own, with new replies.

    \b
    Examples:
      cli models check gpt-5 claude-sonnet-5
      cli models check ours/coder --smoke
    """
    import asyncio
    import json

    from convex_evals.errors import ExitCode
    from convex_evals.models.catalog import find_model
    from convex_evals.models.check import check_model

    entries = _entries(ctx)
    chosen = [find_model(name, entries) for name in names]
    found = [asyncio.run(check_model(entry)) for entry in chosen]
    if as_json and not smoke:
        say_json(json.dumps([f.to_json() for f in found], indent=2))
    else:
        for f in found:
            say(f.line(), err=smoke)
    answering = [f.model for f in found if f.fault is None]
    status = ExitCode.OK if len(answering) == len(found) else ExitCode.USER_ERROR
    if smoke and answering:
        return max(status, _smoke(ctx, answering, as_json))
    return status


def _smoke(ctx: click.Context, slugs: list[str], as_json: bool) -> int:
    """`cli run` over two evals."""
    from convex_evals.models.check import smoke_evals
    from convex_evals.runs.options import RunOptions
    from convex_evals.suite.suite import load_suite, pattern_of

    chosen = smoke_evals(load_suite(_workspace(ctx).suite).evals)
    root = ctx.find_root()
    options = RunOptions(
        suite=suite_path(root), models=tuple(slugs), pattern=pattern_of(chosen), fresh=True, as_json=as_json
    )
    status: int = root.command.main(options.arguments(), prog_name="cli", standalone_mode=False)
    return status


def _entries(ctx: click.Context) -> tuple[ModelEntry, ...]:
    from convex_evals.models.catalog import load_models
    from convex_evals.runs.request import load_environment

    workspace = _workspace(ctx)
    load_environment(workspace.home)
    return load_models(workspace.home)


def _workspace(ctx: click.Context) -> Workspace:
    from convex_evals.config import open_workspace

    return open_workspace(suite_path(ctx.find_root()), None, Path.cwd())
