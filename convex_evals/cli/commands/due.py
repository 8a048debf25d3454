"""`cli due`"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.numbers import Number
from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.analysis.due import Due
    from convex_evals.render.model import Row, Section, Table


@click.command()
@click.option("--budget", type=Number(0), metavar="USD", help="Show only what this pays for.")
@click.option("--why", is_flag=True, help="Say how each was decided.")
@click.option("--all", "shows_all", is_flag=True, help="Show what is not due yet, too.")
@click.option(
    "--now",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]),
    metavar="TIME",
    help="Decide as of this UTC time, like 2026-11-25T18:00. Default: now.",
)
@runs_dir_option
@output_option
@click.pass_context
def due(
    ctx: click.Context,
    budget: float | None,
    why: bool,
    shows_all: bool,
    now: datetime | None,
    runs_dir: Path | None,
    form: str,
) -> None:
    """List the models and experiments that should be asked again, the most needed first.

    `schedule` in convex-evals.yaml says which there are; without it, they are those of models.yaml, with and without
    guidelines. New models are due every day, older ones up to every 60 days, expensive ones less often. Curated models
    are due at once when the guidelines or the benchmark have changed. An attempt that failed counts as one.

    \b
    Examples:
      cli due
      cli due --all --why
      cli due --budget 40 --json
    """
    from convex_evals.config import open_workspace
    from convex_evals.render.model import Section
    from convex_evals.runs.schedule import find_due, within

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    scheduled = find_due(workspace, now.replace(tzinfo=UTC) if now else None)
    found = [d for d in scheduled if shows_all or d.is_due]
    left_out: Sequence[str] = ()
    if budget is not None:
        chosen = within([(d, d.asked.cost_usd) for d in found if d.is_due], budget)
        found, left_out = list(chosen.due), chosen.left_out
    note = None if found or left_out else _nothing(scheduled)
    section = Section.of(_table(found).if_any(), *(map(_reasons, found) if why else ()), *left_out, note)
    print_result(form, section, lambda: [due_to_data(d) for d in found])


def _nothing(scheduled: Sequence[Due]) -> str:
    if not scheduled:
        return "No model is on the schedule: models.yaml has none, and convex-evals.yaml names none."
    upcoming = min((d for d in scheduled if d.due_at), key=lambda d: d.due_at or datetime.max)
    own = upcoming.asked
    return f"Nothing is due. Next: {own.model}, {own.experiment}, on {upcoming.due_at:%Y-%m-%d %H:%M} UTC."


def _table(found: Sequence[Due]) -> Table:
    from convex_evals.render.model import Cell, Column, Table
    from convex_evals.render.numbers import dollars

    columns = [
        Column("model", "model", is_id=True),
        Column("experiment", "experiment"),
        Column("is_due", "due"),
        Column("last_attempt", "last attempt", spare=1),
        Column("interval_days", "interval", right=True, spare=2),
        Column("due_at", "due at (UTC)"),
        Column("cost_usd", "cost of a run", right=True),
    ]

    def row(d: Due) -> Row:
        own, at = d.asked, d.due_at
        last = own.last_attempt.isoformat() if own.last_attempt else None
        return [
            *(own.model, own.experiment, d.is_due, Cell(last or "never", last)),
            Cell(f"{d.interval_days:.1f} days", round(d.interval_days, 4)),
            Cell(f"{at:%Y-%m-%d %H:%M}" if at else "", at.isoformat() if at else None),
            Cell("unknown" if own.cost_usd is None else dollars(own.cost_usd), own.cost_usd),
        ]

    return Table.of(columns, [row(d) for d in found])


def _reasons(d: Due) -> Section:
    from convex_evals.render.model import Section

    return Section(tuple(f"  {line}" for line in d.why), f"{d.asked.model}, {d.asked.experiment}")


def due_to_data(d: Due) -> dict[str, Any]:
    """One model under one experiment, for machines."""
    own, at = d.asked, d.due_at
    return {
        "model": own.model,
        "experiment": own.experiment,
        "is_due": d.is_due,
        "first_seen": own.first_seen.isoformat() if own.first_seen else None,
        "age_days": round(d.age_days, 4),
        "last_attempt": own.last_attempt.isoformat() if own.last_attempt else None,
        "interval_days": round(d.interval_days, 4),
        "due_at": at.isoformat() if at else None,
        "cost_usd": own.cost_usd,
        "changes": list(own.changes),
        "why": d.why,
    }
