"""Models in the order of their pass rates, and what they are ranked by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from convex_evals.analysis.candidates import Unranked
from convex_evals.records import Counts, RunPlan, Summary
from convex_evals.records.benchmark import Benchmark, BenchmarkHead
from convex_evals.stats import tied_ranks
from convex_evals.text import counted


@dataclass(frozen=True)
class Standing:
    """A model's place. Equal pass rates share a rank, and the next one is left out."""

    rank: int
    runs: tuple[Summary, ...]  # newest first
    only: frozenset[str] | None = None  # evals that count; None: all

    @property
    def latest(self) -> Summary:
        return self.runs[0]

    @property
    def evals(self) -> int:
        return len(self.latest.evals if self.only is None else self.only)

    @cached_property
    def counts(self) -> Counts:
        """Trials of all these runs together."""
        if self.only is None:
            return Counts.total(run.counts for run in self.runs)
        return Counts.total(run.evals[e].counts for run in self.runs for e in self.only)

    @property
    def cost_per_eval(self) -> float | None:
        """Dollars that asking one eval once cost, whichever run paid for the reply; None where only some count."""
        trials = self.counts.scored + self.counts.unscored
        return None if self.only is not None else sum(run.replies_cost_usd for run in self.runs) / trials

    @property
    def cost_estimated(self) -> bool:
        return any(run.cost_estimated for run in self.runs)

    @property
    def ms_per_eval(self) -> float:
        """Mean wall clock of a reply; 0 where none was received."""
        evals = [e for run in self.runs for name, e in run.evals.items() if self.only is None or name in self.only]
        times = [e.generation_ms for e in evals if e.generation_ms]
        return sum(times) / len(times) if times else 0.0


def ranked(pools: Sequence[Sequence[Summary]], only: frozenset[str] | None = None) -> list[Standing]:
    """The standings of some models, each by its runs, best first.

    Equal pass rates share a rank and stand in the order of their names. A model without a scored trial has none.
    """
    unplaced = [Standing(0, tuple(runs), only) for runs in pools]
    scored = [each for each in unplaced if each.counts.scored]
    places = tied_ranks([Fraction(each.counts.passed, each.counts.scored) for each in scored])
    found = [Standing(place, each.runs, only) for each, place in zip(scored, places, strict=True)]
    return sorted(found, key=lambda standing: (standing.rank, standing.latest.model))


@dataclass(frozen=True)
class Ranking:
    """The models of one experiment."""

    experiment: str
    standings: Sequence[Standing]  # best first
    benchmark: str | None = None  # the id of what all runs are of; None where they need not be of the same
    minted: BenchmarkHead | None = None  # of that id
    plan: RunPlan | None = None  # of a run that is ranked
    shared: tuple[Benchmark, Benchmark] | None = None  # whose common evals count

    @property
    def without_run(self) -> list[str]:
        """Curated models that are not ranked."""
        have = {standing.latest.model for standing in self.standings}
        return [slug for slug in self.minted.models if slug not in have] if self.minted else []

    @property
    def words(self) -> str:
        """What people read: how many evals, which guidelines and backend, and the benchmark's id."""
        own = self.minted or self.plan
        if own is None or not self.standings:
            return ""
        evals = counted(self.standings[0].evals, "eval")
        if self.shared:
            both = " and ".join(f"{each.name} ({len(each.evals)})" for each in self.shared)
            evals = f"{evals} that {both} share"
        given = f"guidelines {own.guidelines_sha256[:8]}" if own.guidelines_sha256 else "no guidelines"
        identity = f" (benchmark {self.benchmark[:8]})" if self.benchmark else ""
        if own.backend is None:
            return f"{counted(self.standings[0].evals, 'session')}, {given}{identity}"
        return f"{evals}, {given}, {own.backend.kind} backend{identity}"

    @property
    def heading(self) -> str:
        name = f"{self.experiment}, {self.minted.name}" if self.minted else self.experiment
        return f"{name}: {self.words}" if self.words else name


@dataclass(frozen=True)
class Leaderboard:
    rankings: Sequence[Ranking]
    unranked: Sequence[Unranked]
    notes: Sequence[str] = ()  # lines
