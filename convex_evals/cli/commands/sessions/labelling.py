"""`cli sessions mark` and `label`"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.commands.sessions.shared import (
    Conditions,
    filter_options,
    open_store,
    opened_index,
)
from convex_evals.cli.options import STATUSES, collect, output_option, print_result

if TYPE_CHECKING:
    from convex_evals.render.model import Table
    from convex_evals.sessions.labelling import Changed, LabelChange
    from convex_evals.sessions.store import SessionStore

_LONGEST = 40  # characters of a value that are shown


@click.command()
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@click.option("--ready/--not-ready", default=True, help="Whether they are evals. Default: --ready.")
@output_option
@click.pass_context
def mark(ctx: click.Context, names: tuple[str, ...], ready: bool, form: str) -> None:
    """Mark sessions as evals, which exports and the page list, or take the mark away.

    \b
    Examples:
      cli sessions mark 3fa1 9b02
      cli sessions mark 3fa1 --not-ready
    """
    from convex_evals.sessions.labelling import LabelChange

    store = open_store(ctx)
    _apply(store, _named(store, names), LabelChange(ready=ready), form, write=True)


@dataclass(frozen=True)
class LabelOptions:
    """What a label is to say."""

    ready: bool | None
    status: str | None
    tags: tuple[str, ...]
    untags: tuple[str, ...]
    notes: str | None
    expected: Path | None
    no_expected: bool

    def change(self) -> LabelChange:
        """Reads the expected output. Raises `UserError`."""
        from convex_evals.records.session import SessionStatus
        from convex_evals.sessions.labelling import LabelChange

        return LabelChange(
            ready=self.ready,
            status=SessionStatus(self.status) if self.status else None,
            tags=self.tags,
            untags=self.untags,
            notes=self.notes,
            expected=None if self.expected is None else _text_of(self.expected),
            no_expected=self.no_expected,
        )


@click.command()
@click.argument("names", metavar="[ID]...", nargs=-1)
@click.option("--status", type=click.Choice(STATUSES), metavar="STATUS", help=f"One of {', '.join(STATUSES)}.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Add this tag; repeatable.")
@click.option("--untag", "untags", multiple=True, metavar="TAG", help="Remove this tag; repeatable.")
@click.option("--notes", metavar="TEXT", help="Free text; '' removes it.")
@click.option(
    "--expected",
    type=click.Path(path_type=Path, allow_dash=True),
    metavar="FILE",
    help="What the last reply should have been, from this file, or - for standard input.",
)
@click.option("--no-expected", is_flag=True, help="Remove the expected output.")
@click.option("--ready/--not-ready", default=None, help="Mark as an eval, or take the mark away.")
@filter_options("of-")
@click.option("--yes", is_flag=True, help="Change all that the conditions choose. Without this, only show them.")
@output_option
@collect("chosen", Conditions)
@collect("options", LabelOptions)
@click.pass_context
def label(
    ctx: click.Context, names: tuple[str, ...], yes: bool, form: str, chosen: Conditions, options: LabelOptions
) -> None:
    """Say what you think of sessions: status, tags, notes, expected output.

    The sessions are those that ID names, or all that the conditions choose; these are shown first, and changed with
    --yes. The file is labels/<xx>/<id>.yaml; commit it for others to review.

    \b
    Examples:
      cli sessions label 3fa1 --status golden --tag crons --ready
      cli sessions label 3fa1 --expected reply.md --notes "uses cronJobs from convex/server"
      cli sessions label --of-tag draft --search storage.store --status incorrect --yes
    """
    if bool(names) != chosen.is_empty:
        raise click.UsageError("choose sessions by ID, or by conditions like --of-status; see `cli sessions list`")
    if options.expected and options.no_expected:
        raise click.UsageError("--expected and --no-expected: give only one of them")
    change = options.change()
    if change.is_empty:
        raise click.UsageError("say what to change: --status, --tag, --untag, --notes, --expected or --ready")
    store = open_store(ctx)
    if names:
        _apply(store, _named(store, names), change, form, write=True)
        return
    with opened_index(store) as index:
        ids = [entry.id for entry in index.find(chosen.filter())]
    _apply(store, ids, change, form, write=yes)


def _named(store: SessionStore, names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(store.resolve(name) for name in names))


def _apply(store: SessionStore, ids: Sequence[str], change: LabelChange, form: str, *, write: bool) -> None:
    from convex_evals.render.model import Section
    from convex_evals.sessions.labelling import changes, write_changes
    from convex_evals.text import counted

    found = changes(store, ids, change)
    if write:
        write_changes(store, found)
    same = len(ids) - len(found)
    said = counted(len(found), "label") + (" changed" if write else " would be changed; --yes changes them")
    same_said = f"; {same} {'is' if same == 1 else 'are'} like this already" if same else ""
    print_result(form, Section.of(_table(store, found), f"{said}{same_said}."))


def _table(store: SessionStore, found: Sequence[Changed]) -> Table:
    from convex_evals.render.model import Cell, Column, Row, Table
    from convex_evals.sessions.listing import SHORT

    columns = [
        Column("id", "session", is_id=True),
        Column("title", "title"),
        Column("changes", "changes"),
        Column("path", None),
    ]
    rows: list[Row] = []
    for each in found:
        title = (store.read(each.session_id).title or "")[:60]
        path = str(store.label_path(each.session_id))
        rows.append([Cell(each.session_id[:SHORT], each.session_id), title, _difference(each), path])
    return Table.of(columns, rows)


def _difference(each: Changed) -> str:
    before, after = each.before.model_dump(mode="json"), each.after.model_dump(mode="json")
    return ", ".join(
        f"{key}: {_short(before[key])} -> {_short(after[key])}"
        for key in before
        if before[key] != after[key] and key != "reviewedAt"
    )


def _short(value: object) -> str:
    from convex_evals.text import shortened

    text = " ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return shortened(" ".join(text.split()), _LONGEST) or "none"


def _text_of(path: Path) -> str:
    from convex_evals.errors import UserError
    from convex_evals.text import decoded, read_text

    if str(path) == "-":
        return decoded(sys.stdin.buffer.read(), "standard input").replace("\r\n", "\n")
    if path.is_dir():
        raise UserError(f"{path}: is a folder; --expected takes a file")
    return read_text(path)
