"""What has changed on a leaderboard since `cli leaderboard --json` was written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.analysis.ranking import Leaderboard
from convex_evals.errors import UserError
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.records import Counts
from convex_evals.render.model import Cell, Column, Row, Section, Table
from convex_evals.render.numbers import percent

_LIMITS = Limits(64 * 2**20, values=5_000_000)
_COLUMNS = (
    Column("experiment", "experiment"),
    Column("model", "model", is_id=True),
    Column("rank_before", "rank before", right=True),
    Column("rank", "rank", right=True),
    Column("pass_rate_before", "pass rate before", right=True),
    Column("pass_rate", "pass rate", right=True),
    Column("what", "what"),
)


@dataclass(frozen=True)
class Position:
    """Of one model under one experiment."""

    rank: int
    counts: Counts
    benchmark: str | None

    @property
    def pass_rate(self) -> str:
        return percent(self.counts)


@dataclass(frozen=True)
class Change:
    experiment: str
    model: str
    before: Position | None
    now: Position | None

    @property
    def what(self) -> str:
        if self.before is None or self.now is None:
            return "new" if self.before is None else "no longer ranked"
        if self.before.benchmark != self.now.benchmark:
            return "other benchmark"
        if self.before.rank == self.now.rank:
            return "same rank"
        return "up" if self.now.rank < self.before.rank else "down"

    def to_data(self) -> dict[str, Any]:
        return {
            "experiment": self.experiment,
            "model": self.model,
            "before": _position_to_data(self.before),
            "now": _position_to_data(self.now),
            "what": self.what,
        }


def changes(before: Mapping[tuple[str, str], Position], board: Leaderboard) -> list[Change]:
    """By experiment, then by the rank of now; those that are gone last."""
    now = _positions(board)
    keys = [*now, *(key for key in before if key not in now)]
    found = [Change(*key, before.get(key), now.get(key)) for key in keys]
    return sorted((c for c in found if c.before != c.now), key=_order)


def read_positions(path: Path) -> Mapping[tuple[str, str], Position]:
    """The positions in a file that `cli leaderboard --json` wrote, by experiment and model. Raises `UserError`."""
    try:
        rows = decode_object(path.read_bytes(), _LIMITS)["standings"]
        return {
            (str(row["experiment"]), str(row["model"])): Position(
                int(row["rank"]), Counts.model_validate(row["counts"]), row["benchmark"]
            )
            for row in rows
        }
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{path}: is not what `cli leaderboard --json` writes; name a file that it wrote") from None


def changes_section(found: list[Change]) -> Section:
    return Section.of(Table.of(_COLUMNS, [_row(c) for c in found]) if found else "The leaderboard is as before.")


def _positions(board: Leaderboard) -> dict[tuple[str, str], Position]:
    return {
        (s.latest.experiment, s.latest.model): Position(s.rank, s.counts, ranking.benchmark)
        for ranking in board.rankings
        for s in ranking.standings
    }


def _order(change: Change) -> tuple[str, bool, int, str]:
    own = change.now or change.before
    return change.experiment, change.now is None, own.rank if own else 0, change.model


def _row(change: Change) -> Row:
    before, now = change.before, change.now
    return [
        *(change.experiment, change.model),
        *(Cell(str(p.rank), p.rank) if p else Cell("", None) for p in (before, now)),
        *(Cell(p.pass_rate, p.counts.pass_rate) if p else Cell("", None) for p in (before, now)),
        change.what,
    ]


def _position_to_data(position: Position | None) -> dict[str, Any] | None:
    if position is None:
        return None
    return {"rank": position.rank, "counts": position.counts.model_dump(mode="json"), "benchmark": position.benchmark}
