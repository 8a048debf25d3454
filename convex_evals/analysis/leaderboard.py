"""Who does best: the latest whole run of each model under each experiment, ranked by pass rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from convex_evals.analysis.totals import RATE, rate_cells, rate_to_data
from convex_evals.config import ProjectConfig
from convex_evals.errors import WrongFigures
from convex_evals.inputs.confined import is_file
from convex_evals.records import Counts, Summary
from convex_evals.render.model import Cell, Column, Row, Section, Table, apart
from convex_evals.render.numbers import dollars, duration
from convex_evals.stats import tied_ranks
from convex_evals.store.records import read_data, to_record
from convex_evals.store.run import SUMMARY_NAME, open_run
from convex_evals.store.run_checks import refuse_elsewhere, refuse_other_evals, refuse_wrong_figures
from convex_evals.store.runs import RunStore

# A run of fewer evals than this share of the widest run's is of a part of the suite (`-f`, `-c`); one with fewer of its
# trials scored says more about a provider's bad day than about the model.
WHOLE = Fraction(1, 2)

_COLUMNS = (
    Column("experiment", None),
    Column("model", "model", is_id=True),
    Column("rank", "rank", right=True),
    *RATE,
    Column(None, "passed", right=True),
    Column("passed", None),
    Column("scored", None),
    Column("evals", "evals", right=True),
    Column("cost_per_eval_usd", "cost/eval", right=True),
    Column("cost_estimated", None),
    Column("ms_per_eval", "time/eval", right=True),
    Column("date", "date", right=True),
    Column("run_id", "run", right=True, is_id=True),
)


@dataclass(frozen=True)
class Standing:
    """A model's place under one experiment. Equal pass rates share a rank, and the next one is left out."""

    rank: int
    summary: Summary

    @property
    def trials(self) -> int:
        counts = self.summary.counts
        return counts.scored + counts.unscored

    @property
    def cost_per_eval(self) -> float:
        """Dollars that asking one eval once cost, whichever run paid for the reply."""
        return self.summary.replies_cost_usd / self.trials

    @property
    def ms_per_eval(self) -> float:
        """Mean wall clock of a reply; 0 where none was received."""
        times = [e.generation_ms for e in self.summary.evals.values() if e.generation_ms]
        return sum(times) / len(times) if times else 0.0


@dataclass(frozen=True)
class Leaderboard:
    by_experiment: dict[str, list[Standing]]
    left_out: dict[str, int]  # runs that are not ranked, by the reason


@dataclass(frozen=True)
class _Candidate:
    """A summary that was looked at and not yet checked."""

    path: Path
    data: dict[str, Any]

    @property
    def evals(self) -> int:
        return len(self.data["evals"])

    @property
    def key(self) -> tuple[str, str]:
        return self.data["experiment"], self.data["model"]


def read_leaderboard(store: RunStore, config: ProjectConfig, experiment: str | None = None) -> Leaderboard:
    """The standings of all experiments, or of one.

    Reads summaries, and plans of those runs alone that would be ranked: what was given other guidelines than its
    experiment names (an old version of them, or a draft) says nothing about how the model does.
    """
    left_out: Counter[str] = Counter()
    candidates = list(_candidates(store, experiment, left_out))
    widest = max((found.evals for found in candidates), default=0)
    latest: dict[tuple[str, str], Summary] = {}
    for found in candidates:
        if found.evals < WHOLE * widest:
            left_out["of less than half as many evals as the widest run"] += 1
        elif found.key not in latest:
            if _given_others(found, config):
                left_out["newer but with other guidelines than the experiment names"] += 1
            else:
                try:
                    latest[found.key] = _checked(found)
                except WrongFigures as error:
                    left_out[f"refused ({error})"] += 1
    summaries = list(latest.values())
    names = sorted({s.experiment for s in summaries}, key=lambda name: (name != "default", name))
    return Leaderboard({name: rank([s for s in summaries if s.experiment == name]) for name in names}, dict(left_out))


def _candidates(store: RunStore, experiment: str | None, left_out: Counter[str]) -> Iterator[_Candidate]:
    """Runs that could be ranked, newest first."""
    for folder in store.folders():
        path = folder / SUMMARY_NAME
        if not is_file(path, store.root):
            if experiment is None or open_run(folder).plan.experiment == experiment:
                left_out["not complete"] += 1
            continue
        data = read_data(path, Summary, store.root)
        if not _is_plain(data):
            to_record(data, path, Summary)
        if experiment is not None and data["experiment"] != experiment:
            continue
        counts = Counts.model_validate(data["counts"])
        if data.get("synthetic"):
            left_out["synthetic"] += 1
        elif data.get("missing"):
            left_out["not complete"] += 1
        elif not counts.scored:
            left_out["without a scored trial"] += 1
        elif counts.scored < WHOLE * (counts.scored + counts.unscored):
            left_out["with less than half of their trials scored"] += 1
        else:
            yield _Candidate(path, data)


def _checked(found: _Candidate) -> Summary:
    summary = to_record(found.data, found.path, Summary)
    refuse_elsewhere(found.path, summary)
    plan = open_run(found.path.parent).plan
    refuse_other_evals(found.path, plan, summary)
    refuse_wrong_figures(found.path, plan, summary)
    return summary


def _given_others(found: _Candidate, config: ProjectConfig) -> bool:
    own = config.experiments.get(found.data["experiment"])
    given = open_run(found.path.parent).plan.guidelines
    return own is not None and given is not None and given != own.guidelines


def _is_plain(data: dict[str, Any]) -> bool:
    """Whether what is read before the checks has the types that it should have."""
    counts, evals = data.get("counts"), data.get("evals")
    names = (data.get("experiment"), data.get("model"))
    return (
        isinstance(counts, dict)
        and all(type(n) is int and 0 <= n < 10**15 for n in counts.values())
        and counts.keys() <= Counts.model_fields.keys()
        and isinstance(evals, dict)
        and all(isinstance(name, str) for name in names)
    )


def rank(summaries: Sequence[Summary]) -> list[Standing]:
    """Best first; equal pass rates share a rank and stand in the order of their names."""
    ranks = tied_ranks([Fraction(s.counts.passed, s.counts.scored) for s in summaries])
    standings = [Standing(place, s) for s, place in zip(summaries, ranks, strict=True)]
    return sorted(standings, key=lambda s: (s.rank, s.summary.model))


def leaderboard_section(board: Leaderboard) -> Section:
    """A table for each experiment, and what is in none of them."""
    parts: list[str | Section] = [
        Section.of(Table.of(_COLUMNS, [_row(s) for s in standings]), heading=experiment)
        for experiment, standings in board.by_experiment.items()
    ]
    parts += not_ranked(board)
    return apart(*parts) if board.by_experiment else Section.of(*parts)


def not_ranked(board: Leaderboard) -> list[str]:
    """How many runs are left out, and why, in one line; none where none is."""
    why = ", ".join(f"{n} {why}" for why, n in board.left_out.items())
    return [f"Not ranked: {why}."] if why else []


def leaderboard_to_data(board: Leaderboard) -> dict[str, Any]:
    """What the tables say, in full precision."""
    rows = [_to_data(s) for standings in board.by_experiment.values() for s in standings]
    return {"standings": rows, "left_out": board.left_out}


def _row(standing: Standing) -> Row:
    summary, counts = standing.summary, standing.summary.counts
    cost = ("~" if summary.cost_estimated else "") + dollars(standing.cost_per_eval)
    return [
        *(summary.experiment, summary.model, standing.rank),
        *rate_cells(counts),
        *(f"{counts.passed}/{counts.scored}", counts.passed, counts.scored, len(summary.evals)),
        *(Cell(cost, round(standing.cost_per_eval, 6)), summary.cost_estimated),
        Cell(duration(standing.ms_per_eval), round(standing.ms_per_eval)),
        *(summary.date, summary.run_id),
    ]


def _to_data(standing: Standing) -> dict[str, Any]:
    summary = standing.summary
    return {
        "rank": standing.rank,
        "model": summary.model,
        "experiment": summary.experiment,
        "run_id": summary.run_id,
        "date": summary.date,
        "evals": len(summary.evals),
        "counts": summary.counts.model_dump(mode="json"),
        **rate_to_data(summary.counts),
        "cost_usd": summary.replies_cost_usd,
        "cost_per_eval_usd": round(standing.cost_per_eval, 6),
        "cost_estimated": summary.cost_estimated,
        "ms_per_eval": round(standing.ms_per_eval),
    }
