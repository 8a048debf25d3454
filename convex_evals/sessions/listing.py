"""Sessions as lists show them."""

from __future__ import annotations

from collections.abc import Sequence

from convex_evals.records.session import SessionStatus
from convex_evals.render.model import Cell, Column, Row, Table, Tone
from convex_evals.render.numbers import dollars
from convex_evals.sessions.index import SessionEntry

SHORT = 8  # digits of an id that people see
_LONGEST_TITLE = 60
_TONES = {
    SessionStatus.GOLDEN: Tone.GOOD,
    SessionStatus.CORRECT: Tone.GOOD,
    SessionStatus.INCORRECT: Tone.BAD,
    SessionStatus.NEEDS_REVIEW: Tone.UNSURE,
}
_COLUMNS = (
    Column("id", "session", is_id=True),
    Column("evalStatus", "status"),
    Column("evalReady", "ready", spare=1),
    Column("evalTags", "tags", spare=2),
    Column("tool", "agent"),
    Column("time", "last message", spare=2),
    Column("exchanges", "exchanges", right=True, spare=2),
    Column("cost_usd", "cost", right=True, spare=3),
    Column("title", "title"),
    Column("models", None),
    Column("messages", None),
    Column("tokens", None),
    Column("cost_estimated", None),
    Column("folder", None),
    Column("git_branch", None),
    Column("parent", None),
    Column("has_expected", None),
    Column("reviewedAt", None),
)


def entries_table(entries: Sequence[SessionEntry]) -> Table:
    """For machines, labels are named as in their files, the session as in session.json."""
    return Table.of(_COLUMNS, [_row(entry) for entry in entries])


def cost_text(amount: float | None, is_estimated: bool) -> str:
    """With a tilde where the agent did not record it; empty where it is not known."""
    return "" if amount is None else f"{'~' if is_estimated else ''}{dollars(amount)}"


def _row(entry: SessionEntry) -> Row:
    return [
        Cell(entry.id[:SHORT], entry.id),
        Cell(entry.status.value, entry.status.value, _TONES[entry.status]),
        entry.ready,
        entry.tags,
        entry.tool,
        Cell((entry.time or "")[:10], entry.time),
        entry.exchanges,
        Cell(cost_text(entry.cost_usd, entry.cost_estimated), entry.cost_usd),
        Cell(_shortened(entry.title or ""), entry.title),
        entry.models,
        entry.messages,
        entry.tokens,
        entry.cost_estimated,
        entry.folder,
        entry.git_branch,
        entry.parent,
        entry.has_expected,
        entry.reviewed_at,
    ]


def _shortened(title: str) -> str:
    title = " ".join(title.split())
    return title if len(title) <= _LONGEST_TITLE else title[: _LONGEST_TITLE - 1].rstrip() + "…"
