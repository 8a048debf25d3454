"""`cli sessions export`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.commands.sessions.shared import Conditions, filter_options, open_store, opened_index
from convex_evals.cli.numbers import WholeNumber
from convex_evals.cli.options import collect, formats_option
from convex_evals.render.output import say, say_bytes

FORMATS = ("deepeval", "openai", "text", "atif", "inspect", "promptfoo", "hf")


@click.command()
@click.argument("names", metavar="[ID]...", nargs=-1)
@formats_option(FORMATS, " `hf` is Parquet for Hugging Face's datasets.")
@filter_options()
@click.option("--all", "everything", is_flag=True, help="Also those that are not marked as evals.")
@click.option("--limit", type=WholeNumber(1), metavar="N", help="At most so many sessions, the newest.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Default: stdout."
)
@collect("chosen", Conditions)
@click.pass_context
def export(
    ctx: click.Context,
    names: tuple[str, ...],
    form: str,
    chosen: Conditions,
    everything: bool,
    limit: int | None,
    output: Path | None,
) -> None:
    """Write sessions as a dataset: those that are marked as evals, or those that ID names.

    The same sessions and labels make the same bytes.

    \b
    Examples:
      cli sessions export --format deepeval --status golden -o golden.json
      cli sessions export --format openai --tag crons > crons.jsonl
      cli sessions export 3fa1 --format text
    """
    from convex_evals.sessions.exporting import export as exported
    from convex_evals.sessions.exporting import export_to
    from convex_evals.text import counted

    if names and not (chosen.is_empty and not everything and limit is None):
        raise click.UsageError("ID and conditions: give only one of them")
    if everything and chosen.of_ready is not None:
        raise click.UsageError("--all and --eval-ready or --not-ready: give only one of them")
    if form == "hf" and output is None:
        raise click.UsageError("--format hf is no text: give a file, -o sessions.parquet")
    store = open_store(ctx)
    if names:
        ids = list(dict.fromkeys(store.resolve(name) for name in names))
    else:
        wanted = chosen.filter(ready_by_default=not everything)
        with opened_index(store) as index:
            ids = [entry.id for entry in index.find(wanted, limit)]
    if output is None:
        say_bytes(exported(store, ids, form))
    else:
        export_to(output, store, ids, form)
    if not ids:
        say("no session is exported; `cli sessions mark ID --ready` marks one as an eval, --all exports all", err=True)
    elif output is not None:
        say(f"{counted(len(ids), 'session')} written to {output}", err=True)
