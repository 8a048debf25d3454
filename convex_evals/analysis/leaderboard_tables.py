"""A leaderboard as tables and as data."""

from __future__ import annotations

from typing import Any

from convex_evals.analysis.candidates import DRAFT, Unranked, reasons
from convex_evals.analysis.ranking import Leaderboard, Ranking, Standing
from convex_evals.analysis.totals import RATE, rate_cells, rate_to_data
from convex_evals.render.model import Cell, Column, Row, Section, Table, apart
from convex_evals.render.numbers import dollars, duration, percent

_COLUMNS = (
    Column("benchmark", None),
    Column("experiment", None),
    Column("model", "model", is_id=True),
    Column("rank", "rank", right=True),
    *RATE,
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("evals", "evals", right=True),
    Column("runs", "runs", right=True),
    Column("cost_per_eval_usd", "cost/eval", right=True),
    Column("cost_estimated", None),
    Column("ms_per_eval", "time/eval", right=True),
    Column("date", "latest", right=True),
    Column("run_id", "run", right=True, is_id=True),
)
_UNRANKED = (
    Column("experiment", "experiment"),
    Column("model", "model", is_id=True),
    Column("date", "date", right=True),
    Column("run_id", "run", right=True, is_id=True),
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("pass_rate", "pass rate", right=True),
    Column("reason", "not ranked because it is"),
)


def leaderboard_section(board: Leaderboard, *, everything: bool = False) -> Section:
    """A table for each ranking, and what is in none of them: how many runs, or all of them."""
    parts: list[str | Section] = [_ranking(ranking) for ranking in board.rankings if ranking.standings]
    notes = [*board.notes, *(line for ranking in board.rankings for line in _missing(ranking))]
    if everything and board.unranked:
        rows = [_unranked_row(each) for each in board.unranked]
        return apart(*parts, *notes, Section.of(Table.of(_UNRANKED, rows), heading="Not ranked"))
    notes += not_ranked(board)
    return apart(*parts, *notes) if parts else Section.of(*notes)


def _ranking(ranking: Ranking) -> Section:
    return Section.of(Table.of(_COLUMNS, [_row(ranking, s) for s in ranking.standings]), heading=ranking.heading)


def _missing(ranking: Ranking) -> list[str]:
    """Curated models without a run."""
    missing = ranking.without_run
    return (
        [f"Curated, but without a run of {ranking.minted.name}: {', '.join(missing)}."]
        if missing and ranking.minted
        else []
    )


def not_ranked(board: Leaderboard) -> list[str]:
    """How many runs are left out, and why, in one line; none where none is."""
    found = reasons(board.unranked)
    why = ", ".join(f"{n} {why}" for why, n in found.items())
    lines = [f"Not ranked: {why}."] if why else []
    if DRAFT in found:
        lines.append(
            "Commit the changes to the suite and repeat the command of such a run: it counts then, "
            "and nothing is asked again."
        )
    return lines


def leaderboard_to_data(board: Leaderboard, *, everything: bool = False) -> dict[str, Any]:
    """What the tables say, in full precision."""
    data = {
        "standings": [_to_data(ranking, s) for ranking in board.rankings for s in ranking.standings],
        "benchmarks": [_benchmark_to_data(ranking) for ranking in board.rankings],
        "left_out": reasons(board.unranked),
        "notes": list(board.notes),
    }
    return {**data, "unranked": [_unranked_to_data(each) for each in board.unranked]} if everything else data


def _row(ranking: Ranking, standing: Standing) -> Row:
    summary, counts, cost = standing.latest, standing.counts, standing.cost_per_eval
    shown = "" if cost is None else ("~" if standing.cost_estimated else "") + dollars(cost)
    return [
        *(ranking.benchmark, summary.experiment, summary.model, standing.rank),
        *rate_cells(counts),
        *(f"{counts.passed}/{counts.scored}", counts.passed, counts.scored, standing.evals, len(standing.runs)),
        *(Cell(shown, None if cost is None else round(cost, 6)), standing.cost_estimated),
        Cell(duration(standing.ms_per_eval), round(standing.ms_per_eval)),
        *(summary.date, summary.run_id),
    ]


def _to_data(ranking: Ranking, standing: Standing) -> dict[str, Any]:
    summary, cost = standing.latest, standing.cost_per_eval
    return {
        "rank": standing.rank,
        "model": summary.model,
        "experiment": summary.experiment,
        "benchmark": ranking.benchmark,
        "run_id": summary.run_id,
        "runs": [run.run_id for run in standing.runs],
        "date": summary.date,
        "evals": standing.evals,
        "counts": standing.counts.model_dump(mode="json"),
        **rate_to_data(standing.counts),
        "cost_per_eval_usd": None if cost is None else round(cost, 6),
        "cost_estimated": standing.cost_estimated,
        "ms_per_eval": round(standing.ms_per_eval),
    }


def _benchmark_to_data(ranking: Ranking) -> dict[str, Any]:
    own = ranking.minted or ranking.plan
    return {
        "experiment": ranking.experiment,
        "id": ranking.benchmark,
        "name": ranking.minted.name if ranking.minted else None,
        "shared": [one.name for one in ranking.shared] if ranking.shared else None,
        "evals": ranking.standings[0].evals if ranking.standings else None,
        "guidelines_sha256": own.guidelines_sha256 if own else None,
        "backend": own.backend.kind if own and own.backend else None,
        "models_without_run": ranking.without_run,
    }


def _unranked_row(each: Unranked) -> Row:
    counts = each.counts
    passed = "" if counts is None else f"{counts.passed}/{counts.scored}"
    rate = Cell("", None) if counts is None else Cell(percent(counts), counts.pass_rate)
    known = (None, None) if counts is None else (counts.passed, counts.scored)
    return [each.experiment, each.model, each.date, each.run_id, passed, *known, rate, each.reason]


def _unranked_to_data(each: Unranked) -> dict[str, Any]:
    counts = each.counts
    return {
        "run_id": each.run_id,
        "model": each.model,
        "experiment": each.experiment,
        "date": each.date,
        "counts": None if counts is None else counts.model_dump(mode="json"),
        "pass_rate": None if counts is None else counts.pass_rate,
        "reason": each.reason,
    }
