"""Which evals which models fail: a row for each eval, a column for each model, the worst eval first."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import correlation
from typing import Any

from convex_evals.analysis.candidates import reasons
from convex_evals.analysis.leaderboard_tables import not_ranked
from convex_evals.analysis.verdicts import NewestVerdicts, VerdictBoard
from convex_evals.records import Counts
from convex_evals.render.model import Cell, Column, Row, Section, Table, Tone, apart
from convex_evals.render.numbers import percent
from convex_evals.stats import Rate


@dataclass(frozen=True)
class MatrixRow:
    """What came of one eval."""

    eval_id: str
    by_model: dict[str, Counts]  # of the models that have it

    @cached_property
    def total(self) -> Counts:
        return Counts.total(self.by_model.values())

    @property
    def torn(self) -> list[str]:
        """The models whose own trials disagree."""
        return [model for model, counts in self.by_model.items() if counts.passed and counts.failed]

    @property
    def badness(self) -> tuple[bool, float, str]:
        """Sorts the worst first, and last what nothing is known of."""
        rate = self.total.pass_rate
        return rate is None, rate or 0.0, self.eval_id


@dataclass(frozen=True)
class Matrix:
    """The models of one experiment, eval by eval."""

    experiment: str
    columns: Sequence[NewestVerdicts]  # best first
    rows: Sequence[MatrixRow]  # worst first

    @property
    def models(self) -> list[str]:
        return [column.model for column in self.columns]

    def discrimination(self, row: MatrixRow) -> float | None:
        """How far who passes this eval is who passes the others, in [-1, 1]; None of fewer than three models.

        The item-rest correlation of test theory: F. M. Lord and M. R. Novick, "Statistical Theories of Mental Test
        Scores" (1968), chapter 15. Also None where all models do equally well on either.
        """
        own, rest = [], []
        for model, counts in row.by_model.items():
            whole = self._by_model[model]
            others = whole.scored - counts.scored
            if counts.pass_rate is not None and others:
                own.append(counts.pass_rate)
                rest.append((whole.passed - counts.passed) / others)
        if len(own) < 3 or len(set(own)) == 1 or len(set(rest)) == 1:
            return None
        return round(correlation(own, rest), 6)

    @cached_property
    def _by_model(self) -> dict[str, Counts]:
        found: dict[str, Counts] = {}
        for row in self.rows:
            for model, counts in row.by_model.items():
                found[model] = found.get(model, Counts()) + counts
        return found


def make_matrices(board: VerdictBoard, model: str | None = None, evals: Collection[str] | None = None) -> list[Matrix]:
    """One for each experiment; of one `model`, and of some `evals`, where these are given."""
    found = []
    for experiment, models in board.experiments:
        columns = [column for column in models if model in (None, column.model)]
        names = sorted({name for column in columns for name in column.run_of})
        rows = [_row_of(name, columns) for name in names if evals is None or name in evals]
        if rows:
            found.append(Matrix(experiment, columns, sorted(rows, key=lambda row: row.badness)))
    return found


def _row_of(name: str, columns: Sequence[NewestVerdicts]) -> MatrixRow:
    return MatrixRow(name, {column.model: counts for column in columns if (counts := column.counts(name))})


_COLUMNS = (
    Column("experiment", None),
    Column("eval", "eval", is_id=True),
    Column("all", "all", right=True),
)


def matrix_section(matrices: Sequence[Matrix], board: VerdictBoard) -> Section:
    """A table for each experiment, and what is in none of them."""
    slugs = tuple(dict.fromkeys(slug for m in matrices for slug in m.models))
    found = [Section.of(_table(m, slugs), heading=m.experiment) for m in matrices]
    return apart(*(found or [Section.of(Table.of(_COLUMNS, []).if_any())]), *not_ranked(board.unranked))


def _table(matrix: Matrix, slugs: Sequence[str]) -> Table:
    """The same columns for machines in all; people see those of the models that ran."""
    own = [Column(slug, slug if slug in matrix.models else None, right=True) for slug in slugs]
    return Table.of([*_COLUMNS, *own], [_cells(matrix, slugs, row) for row in matrix.rows])


def _cells(matrix: Matrix, slugs: Sequence[str], row: MatrixRow) -> Row:
    found = [row.total, *(row.by_model.get(slug) for slug in slugs)]
    return [matrix.experiment, row.eval_id, *map(_cell, found)]


def _cell(counts: Counts | None) -> Cell:
    if counts is None:
        return Cell("", None)
    rate = counts.pass_rate
    tone = {None: Tone.UNSURE, 0.0: Tone.BAD, 1.0: Tone.GOOD}.get(rate)
    return Cell(percent(counts), rate, tone)


def matrix_to_data(matrices: Sequence[Matrix], board: VerdictBoard) -> dict[str, Any]:
    """What the tables say, in full precision, with the counts behind it."""
    return {"experiments": [_to_data(matrix) for matrix in matrices], "left_out": reasons(board.unranked)}


def _to_data(matrix: Matrix) -> dict[str, Any]:
    models = [
        {
            "model": column.model,
            "rank": column.rank,
            "runs": [{"run_id": run.run_id, "date": run.date} for run in column.runs],
        }
        for column in matrix.columns
    ]
    evals = [
        {
            "eval": row.eval_id,
            **_rate_data(row.total),
            "models": {
                column.model: {**_rate_data(counts), "run_id": column.run_of[row.eval_id].run_id}
                for column in matrix.columns
                if (counts := row.by_model.get(column.model))
            },
        }
        for row in matrix.rows
    ]
    return {"experiment": matrix.experiment, "models": models, "evals": evals}


def _rate_data(counts: Counts) -> dict[str, Any]:
    rate = Rate.of([counts.tally])  # of one eval, so there is nothing to say about others
    ends = {"pass_rate": rate.pass_rate, "interval_these_evals": rate.interval_these_evals}
    return {"counts": counts.model_dump(mode="json"), **ends}
