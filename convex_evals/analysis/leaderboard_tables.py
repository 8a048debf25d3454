"""A leaderboard as tables and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from convex_evals.analysis.candidates import DRAFT, SYNTHETIC, TOO_MANY_UNSCORED, Unranked, reasons
from convex_evals.analysis.gains import Gain
from convex_evals.analysis.ranking import PROVISIONAL, Leaderboard, Ranking, Standing
from convex_evals.analysis.totals import rate_cells, rate_columns, rate_to_data
from convex_evals.records import Counts
from convex_evals.render.model import Cell, Column, Row, Section, Table, apart
from convex_evals.render.numbers import dollars, duration, percent
from convex_evals.stats import Rate
from convex_evals.text import listed

_BEFORE_RATES = (
    Column("benchmark", None),
    Column("experiment", None),
    Column("model", "model", is_id=True),
    Column(None, "rank", right=True),
    Column("rank", None),
    Column("rank_best", None),
    Column("rank_worst", None),
    Column("provisional", None),
)
_AFTER_RATES = (
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("unscored", None),
    Column("evals", "evals", right=True, spare=2),
    Column("runs", "runs", right=True, spare=2),
    Column("cost_per_pass_usd", "cost/pass", right=True, spare=1),
    Column("cost_per_eval_usd", None),
    Column("cost_estimated", None),
    Column("reply_ms_p50", "reply p50", right=True, spare=3),
    Column("reply_ms_p95", "p95", right=True, spare=3),
    Column("date", "latest", spare=2),
    Column("run_id", "run", is_id=True, spare=1),
)
_UNRANKED = (
    Column("experiment", "experiment"),
    Column("model", "model", is_id=True),
    Column("date", "date"),
    Column("run_id", "run", is_id=True),
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("pass_rate", "pass rate", right=True),
    Column("reason", "not ranked because it is"),
)
_RECORDED = (
    Column("model", "model", is_id=True),
    Column("experiment", "experiment", spare=1),
    Column("guidelines", "guidelines", is_id=True),
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("pass_rate", "pass rate", right=True),
    Column("date", "date", spare=2),
    Column("run_id", "run", is_id=True),
)


def leaderboard_section(board: Leaderboard, found: Sequence[Gain] = (), *, everything: bool = False) -> Section:
    """A table for each ranking and each gain, and what is in none of them: how many runs, or all of them."""
    parts: list[str | Section] = [_ranking(ranking) for ranking in board.rankings if ranking.standings]
    parts += [each.to_section() for each in found]
    provisional = (line for ranking in board.rankings for line in _provisional(ranking))
    notes = [*board.notes, *dict.fromkeys(provisional), *unscored_lines(board), *_missing(board.rankings)]
    if everything and board.unranked:
        rows = [_unranked_row(each) for each in board.unranked]
        return apart(*parts, *notes, Section.of(Table.of(_UNRANKED, rows), heading="Not ranked"))
    notes += not_ranked(board.unranked)
    return apart(*parts, *notes) if parts else Section.of(*notes)


def _ranking(ranking: Ranking) -> Section:
    k = ranking.trials
    rows = [_row(ranking, s, k) for s in ranking.standings]
    return Section.of(Table.of(_columns([s.rate for s in ranking.standings], k), rows), heading=ranking.heading)


def no_ranking() -> Table:
    """The header of a ranking, for machines, where no model is ranked."""
    return Table.of(_columns([], k=1), []).if_any()


def _columns(rates: Sequence[Rate], k: int) -> list[Column]:
    pass_hat_k = Column("pass_hat_k", f"pass^{k}" if k > 1 else None, right=True)
    return [*_BEFORE_RATES, *rate_columns(rates), pass_hat_k, Column("k", None), *_AFTER_RATES]


def _provisional(ranking: Ranking) -> list[str]:
    """What the asterisks of a table mean."""
    return [f"* Provisional: fewer than {PROVISIONAL} scored trials."] if ranking.provisional else []


def unscored_lines(board: Leaderboard) -> list[str]:
    """What share of its trials has no verdict, a line for each standing that lacks some."""
    return [
        f"Without a verdict: {share:.1%} of the trials of {standing.latest.model} under {ranking.experiment}."
        for ranking in board.rankings
        for standing in ranking.standings
        if (share := standing.counts.unscored_share)
    ]


def _missing(rankings: Sequence[Ranking]) -> list[str]:
    """Curated models without a run: a line for each benchmark, and for experiments that lack the same models."""
    found: dict[tuple[str, str], list[str]] = {}
    for ranking in rankings:
        if ranking.minted and ranking.without_run:
            found.setdefault((ranking.minted.name, ", ".join(ranking.without_run)), []).append(ranking.experiment)
    return [
        f"Curated, but without a run of {name} under {listed(experiments)}: {models}."
        for (name, models), experiments in found.items()
    ]


def not_ranked(unranked: Sequence[Unranked]) -> list[str]:
    """How many runs are left out, and why, in one line; none where none is."""
    found = reasons(unranked)
    why = ", ".join(f"{n} {why}" for why, n in found.items())
    lines = [f"Not ranked: {why}."] if why else []
    if DRAFT in found:
        lines.append(
            "Commit the changes to the suite and repeat the command of such a run: it counts then, "
            "and nothing is asked again."
        )
    if TOO_MANY_UNSCORED in found:
        lines.append("`cli status RUN` says how to ask again for trials without a verdict.")
    return lines


def recorded(unranked: Sequence[Unranked]) -> list[Unranked]:
    """Of runs that asked no model, the newest of each solver and each version of the guidelines."""
    found: dict[tuple[str, str, str | None], Unranked] = {}
    for each in unranked:
        if each.reason == SYNTHETIC and each.counts:
            found.setdefault((each.model, each.experiment, each.guidelines), each)
    return sorted(found.values(), key=lambda each: (each.model, each.run_id))


def recorded_section(unranked: Sequence[Unranked]) -> Section | None:
    """What there is to see before any model was asked; None where there is nothing."""
    rows = [_recorded_row(each, each.counts) for each in recorded(unranked) if each.counts]
    heading = "Recorded replies and reference answers: no model was asked, and none is ranked"
    return Section.of(Table.of(_RECORDED, rows), heading=heading) if rows else None


def _recorded_row(each: Unranked, counts: Counts) -> Row:
    return [
        *(each.model, each.experiment, each.guidelines or "none"),
        *(f"{counts.passed}/{counts.scored}", counts.passed, counts.scored),
        *(Cell(percent(counts), counts.pass_rate), each.date, each.run_id),
    ]


def leaderboard_to_data(board: Leaderboard, found: Sequence[Gain] = (), *, everything: bool = False) -> dict[str, Any]:
    """What the tables say, in full precision."""
    data = {
        "standings": [_to_data(ranking, s) for ranking in board.rankings for s in ranking.standings],
        "benchmarks": [_benchmark_to_data(ranking) for ranking in board.rankings],
        "gains": [each.to_data() for each in found],
        "recorded": [_unranked_to_data(each) for each in recorded(board.unranked)],
        "left_out": reasons(board.unranked),
        "notes": list(board.notes),
    }
    return {**data, "unranked": [_unranked_to_data(each) for each in board.unranked]} if everything else data


def rank_words(standing: Standing) -> str:
    """The ranks that a model can have: `1`, `1-3`; with an asterisk where it is provisional."""
    best, worst = standing.ranks
    return (str(best) if best == worst else f"{best}-{worst}") + ("*" if standing.provisional else "")


def _row(ranking: Ranking, standing: Standing, k: int) -> Row:
    summary, counts, cost, all_pass = standing.latest, standing.counts, standing.cost_per_pass, standing.pass_hat_k(k)
    shown = "" if cost is None else ("~" if standing.cost_estimated else "") + dollars(cost)
    return [
        *(ranking.benchmark, summary.experiment, summary.model, rank_words(standing), standing.rank),
        *(*standing.ranks, standing.provisional),
        *rate_cells(standing.rate),
        *(Cell("" if all_pass is None else f"{all_pass:.0%}", all_pass), k),
        *(f"{counts.passed}/{counts.scored}", counts.passed, counts.scored, counts.unscored),
        *(standing.evals, len(standing.runs)),
        *(Cell(shown, _rounded(cost)), _rounded(standing.cost_per_eval), standing.cost_estimated),
        *(_time(standing.reply_ms(share)) for share in (0.5, 0.95)),
        *(summary.date, summary.run_id),
    ]


def _time(milliseconds: int | None) -> Cell:
    return Cell("" if milliseconds is None else duration(milliseconds), milliseconds)


def _rounded(cost: float | None) -> float | None:
    """Dollars to a millionth."""
    return None if cost is None else round(cost, 6)


def _to_data(ranking: Ranking, standing: Standing) -> dict[str, Any]:
    summary, k = standing.latest, ranking.trials
    return {
        "rank": standing.rank,
        "ranks": standing.ranks,
        "provisional": standing.provisional,
        "model": summary.model,
        "experiment": summary.experiment,
        "benchmark": ranking.benchmark,
        "run_id": summary.run_id,
        "runs": [run.run_id for run in standing.runs],
        "date": summary.date,
        "evals": standing.evals,
        "counts": standing.counts.model_dump(mode="json"),
        **rate_to_data(standing.rate),
        "k": k,
        "pass_hat_k": standing.pass_hat_k(k),
        "cost_per_pass_usd": _rounded(standing.cost_per_pass),
        "cost_per_eval_usd": _rounded(standing.cost_per_eval),
        "cost_estimated": standing.cost_estimated,
        "reply_ms_p50": standing.reply_ms(0.5),
        "reply_ms_p95": standing.reply_ms(0.95),
    }


def _benchmark_to_data(ranking: Ranking) -> dict[str, Any]:
    own = ranking.minted or ranking.plan
    return {
        "experiment": ranking.experiment,
        "id": ranking.benchmark,
        "name": ranking.minted.name if ranking.minted else None,
        "version": ranking.minted.version if ranking.minted else None,
        "shared": [one.name for one in ranking.shared] if ranking.shared else None,
        "evals": ranking.standings[0].evals if ranking.standings else None,
        "guidelines_sha256": ranking.guidelines_sha256,
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
        "guidelines": each.guidelines,
        "date": each.date,
        "counts": None if counts is None else counts.model_dump(mode="json"),
        "pass_rate": None if counts is None else counts.pass_rate,
        "reason": each.reason,
    }
