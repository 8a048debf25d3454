"""`cli models`"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.options import output_option, print_lines, print_result, suite_path
from convex_evals.render.output import say
from convex_evals.text import counted

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.models.catalog import Catalog
    from convex_evals.models.check import SignOfLife
    from convex_evals.models.discover import Offer
    from convex_evals.models.keys import Key
    from convex_evals.records.models import ModelEntry, Price
    from convex_evals.render.model import Row, Table


_LATELY_DAYS = 60


@click.group()
def models() -> None:
    """List the models that can be named, show one, check that one answers, or find new ones.

    \b
    Examples:
      cli models list
      cli models show claude-sonnet-5
      cli models check claude-sonnet-5 --smoke
      cli models discover
    """


@models.command("list")
@output_option
@click.pass_context
def list_(ctx: click.Context, form: str) -> None:
    """List the models that can be named, and whether their keys are set.

    They are those of models.yaml and those that ship. No key is shown.
    """
    from convex_evals.models.keys import key_of
    from convex_evals.render.model import Column, Section, Table

    catalog = _catalog(ctx)
    columns = [
        Column("slug", "slug", is_id=True),
        Column("name", "name", spare=1),
        Column("key_variable", "key"),
        Column("key_state", ""),
        Column("first_seen", "first seen", spare=2),
        Column("tags", "tags", spare=3),
        Column("shipped", None),
    ]
    keys = {e.slug: key_of(e) for e in catalog.entries}

    def row(e: ModelEntry) -> Row:
        key, day = keys[e.slug], e.first_seen.isoformat() if e.first_seen else None
        return [e.slug, e.name or e.slug, key.variable, key.state, day, tuple(e.tags), e in catalog.shipped]

    def data(e: ModelEntry) -> dict[str, Any]:
        key = keys[e.slug]
        return {**e.model_dump(mode="json"), "key": _key_data(key), "shipped": e in catalog.shipped}

    note = "-m provider/name takes other models, too, if LiteLLM knows them. Set keys in your shell or in .env."
    print_result(
        form,
        Section.of(Table.of(columns, [row(e) for e in catalog.entries]), note),
        lambda: [data(e) for e in catalog.entries],
    )


def _key_data(key: Key) -> dict[str, Any]:
    return {"variable": key.variable, "set": key.is_set}


@models.command()
@click.argument("name", metavar="MODEL")
@output_option
@click.pass_context
def show(ctx: click.Context, name: str, form: str) -> None:
    """Show one model: its settings and its price."""
    from convex_evals.models.catalog import find_model
    from convex_evals.models.keys import key_of
    from convex_evals.models.price import can_search, most_output_tokens, tariff_of

    entry = find_model(name, _catalog(ctx))
    price = tariff_of(entry).price
    data = {
        **entry.model_dump(mode="json"),
        "key": _key_data(key_of(entry)),
        "price": price.model_dump(mode="json") if price else None,
        "most_output_tokens": most_output_tokens(entry),
        "web_search": can_search(entry),
    }
    print_lines(form, _lines(data, price), _settings(data), lambda: data)


def _lines(data: Mapping[str, Any], price: Price | None) -> Iterator[str]:
    for key, value in data.items():
        if key == "price":
            half = "; in batches half of it" if data["batch"] else ""
            value = f"${price.input:g} in, ${price.output:g} out, per million tokens{half}" if price else "not known"
        elif key == "key":
            value = f"{value['variable']}: {'set' if value['set'] else 'missing'}" if value["variable"] else None
        if isinstance(value, dict):
            value = ", ".join(f"{k} {v}" for k, v in value.items() if v is not None)
        if value not in (None, [], ""):
            yield f"{key:20} {' '.join(value) if isinstance(value, list) else value}"


def _settings(data: Mapping[str, Any]) -> Table:
    """One row for each setting, `price.input` among them."""
    from convex_evals.render.model import Column, Table

    rows: list[Row] = []
    for key, value in data.items():
        parts = {f"{key}.{k}": v for k, v in value.items()} if isinstance(value, dict) else {key: value}
        rows += [[k, tuple(v) if isinstance(v, list) else v] for k, v in parts.items()]
    return Table.of([Column("setting", "setting"), Column("value", "value")], rows)


@models.command()
@click.argument("names", metavar="MODEL...", nargs=-1, required=True)
@click.option(
    "--smoke", is_flag=True, help="Also run two evals with each model that answered. Do this before adding a model."
)
@output_option
@click.pass_context
def check(ctx: click.Context, names: tuple[str, ...], smoke: bool, form: str) -> int:
    """Send one tiny request to each MODEL, and report how long it took and whether its price is known.

    Exit code 1 if a model does not answer. With --smoke, stdout has the output of `cli run`, and the results of the
    requests go to stderr. The smoke test is a run of its own, with new replies.

    \b
    Examples:
      cli models check gpt-5 claude-sonnet-5
      cli models check ours/coder --smoke
    """
    import asyncio

    from convex_evals.errors import ExitCode
    from convex_evals.models.catalog import find_model
    from convex_evals.models.check import check_model

    catalog = _catalog(ctx)
    chosen = [find_model(name, catalog) for name in names]
    found = [asyncio.run(check_model(entry)) for entry in chosen]
    if smoke:
        for f in found:
            say(f.line(), err=True)
    else:
        print_lines(form, (f.line() for f in found), _answers(found))
    answering = [f.model for f in found if f.fault is None]
    status = ExitCode.OK if len(answering) == len(found) else ExitCode.USER_ERROR
    if smoke and answering:
        return max(status, _smoke(ctx, answering, form))
    return status


@models.command()
@click.option(
    "--from",
    "source",
    default="openrouter",
    show_default=True,
    metavar="SOURCE",
    help="`openrouter`, the address of a list like OpenRouter's, or a file with one.",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DAY",
    help="Only models that came on this day or later. Default: 60 days ago.",
)
@click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="NAME",
    help="Only models of this provider; repeatable. Default: the providers of `cli models list`.",
)
@click.option("--write", is_flag=True, help="Write the entries to models.yaml instead of showing a patch.")
@output_option
@click.pass_context
def discover(
    ctx: click.Context, source: str, since: datetime | None, providers: tuple[str, ...], write: bool, form: str
) -> None:
    """Find models that came out lately and have no entry, and show a patch that adds them to models.yaml.

    An entry has the day on which the model was first seen, from which `cli due` tells how often it is asked. Review
    the patch: a list says nothing about how well a model writes code.

    \b
    Examples:
      cli models discover
      cli models discover --since 2026-11-01 --provider anthropic --json
      cli models discover | git apply
    """
    from convex_evals.models.catalog import MODELS_NAME, load_catalog
    from convex_evals.models.discover import new_offers, patch_models

    workspace = _workspace(ctx)
    first_day = (since or datetime.now(UTC) - timedelta(days=_LATELY_DAYS)).date()
    found = new_offers(_offers(source), load_catalog(workspace.home), first_day, providers)
    if not found:
        line = f"No new model since {first_day}."
    else:
        line = patch_models(workspace.home, found, write=write).removesuffix("\n")
        if write:
            line = f"Added {counted(len(found), 'model')} to {MODELS_NAME}; review it with `git diff`."
    print_lines(form, [line], _entries(found), lambda: [o.entry.model_dump(mode="json") for o in found])


def _offers(source: str) -> list[Offer]:
    from convex_evals.models.discover import OPENROUTER, fetch, read_offers
    from convex_evals.text import read_text

    url = OPENROUTER if source == "openrouter" else source
    if url.startswith(("https://", "http://")):
        return read_offers(fetch(url), url)
    return read_offers(read_text(Path(source)).encode(), source)


def _entries(found: list[Offer]) -> Table:
    from convex_evals.render.model import Column, Table

    columns = [
        Column("slug", "slug", is_id=True),
        Column("name", "name"),
        Column("first_seen", "first seen", spare=2),
        Column("input_usd", "$ in per million", right=True),
        Column("output_usd", "$ out per million", right=True),
    ]

    def row(offer: Offer) -> Row:
        price = offer.entry.price
        amounts = (price.input, price.output) if price else (None, None)
        return [offer.entry.slug, offer.entry.name, offer.first_seen.isoformat(), *amounts]

    return Table.of(columns, [row(offer) for offer in found])


def _answers(found: list[SignOfLife]) -> Table:
    from convex_evals.render.model import Column, Table

    columns = [
        Column("model", "model", is_id=True),
        Column("fault", "fault"),
        Column("message", "message"),
        Column("first_token_ms", "first text, ms", right=True),
        Column("duration_ms", "in all, ms", right=True),
        Column("priced", "price known"),
    ]
    rows = [[f.model, f.fault, f.message, f.first_token_ms, f.duration_ms, f.priced] for f in found]
    return Table.of(columns, rows)


def _smoke(ctx: click.Context, slugs: list[str], form: str) -> int:
    """`cli run` over two evals."""
    from convex_evals.models.check import smoke_evals
    from convex_evals.runs.options import RunOptions
    from convex_evals.suite.id_filter import pattern_of
    from convex_evals.suite.suite import load_suite

    chosen = smoke_evals(load_suite(_workspace(ctx).suite).evals)
    root = ctx.find_root()
    options = RunOptions(
        suite=suite_path(root), models=tuple(slugs), patterns=(pattern_of(chosen),), fresh=True, form=form
    )
    status: int = root.command.main(options.arguments(), prog_name="cli", standalone_mode=False)
    return status


def _catalog(ctx: click.Context) -> Catalog:
    from convex_evals.models.catalog import load_catalog
    from convex_evals.runs.request import load_environment

    workspace = _workspace(ctx)
    load_environment(workspace.home)
    return load_catalog(workspace.home)


def _workspace(ctx: click.Context) -> Workspace:
    from convex_evals.config import open_workspace

    return open_workspace(suite_path(ctx.find_root()), None, Path.cwd())
