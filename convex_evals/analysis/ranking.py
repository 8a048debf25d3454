"""Models in the order of their pass rates, and what they are ranked by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from convex_evals.analysis.candidates import Unranked
from convex_evals.records import Counts, EvalSummary, RunPlan, Summary
from convex_evals.records.benchmark import Benchmark, BenchmarkHead
from convex_evals.stats import Rate, Tally, pass_hat_k, pooled, rank_ranges, tied_ranks
from convex_evals.text import counted

PROVISIONAL = 100  # scored trials: of fewer, an interval reaches further than ten points either way


@dataclass
class Standing:
    """A model's place, which `ranked` gives it."""

    runs: tuple[Summary, ...]  # newest first
    only: frozenset[str] | None = None  # evals that count; None: all
    rank: int = 0  # equal pass rates share one, and the next is left out
    ranks: tuple[int, int] = (0, 0)  # best and worst that it can have; with 95 % all of a ranking hold

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

    @cached_property
    def tallies(self) -> dict[str, Tally]:
        """Trials of all these runs together, by eval id."""
        found = pooled(run.tallies for run in self.runs)
        return found if self.only is None else {name: found[name] for name in self.only}

    @cached_property
    def rate(self) -> Rate:
        return Rate.of(self.tallies.values())

    def rate_of(self, category: str) -> Rate:
        return Rate.of(tally for name, tally in self.tallies.items() if name.partition("/")[0] == category)

    @property
    def provisional(self) -> bool:
        """Whether so few trials are scored that a few of them may turn the ranking."""
        return self.counts.scored < PROVISIONAL

    @property
    def trials(self) -> int:
        """Of an eval in a run, the fewest of these runs."""
        return min(max((_trials(found) for found in run.evals.values()), default=1) for run in self.runs)

    def pass_hat_k(self, k: int) -> float | None:
        """The chance that all of `k` replies to an eval pass, on average; None where no eval has so many trials."""
        found = [value for t in self.tallies.values() if (value := pass_hat_k(t.passed, t.scored, k)) is not None]
        return sum(found) / len(found) if found else None

    @property
    def _cost(self) -> float | None:
        """Dollars that the replies cost, whichever run paid for them; None where only some evals count."""
        return None if self.only is not None else sum(run.replies_cost_usd for run in self.runs)

    @property
    def cost_per_eval(self) -> float | None:
        """Dollars that asking one eval once cost; None where only some evals count."""
        cost = self._cost
        return None if cost is None else cost / (self.counts.scored + self.counts.unscored)

    @property
    def cost_per_pass(self) -> float | None:
        """Dollars for all trials by those that passed; None where none did, or only some evals count."""
        cost = self._cost
        return cost / self.counts.passed if cost is not None and self.counts.passed else None

    @property
    def cost_estimated(self) -> bool:
        return any(run.cost_estimated for run in self.runs)

    def reply_ms(self, share: float) -> int | None:
        """The wall clock that this share of all replies did not exceed; None where none was received.

        The nearest rank: an actual reply's, of few as well.
        """
        evals = (e for run in self.runs for name, e in run.evals.items() if self.only is None or name in self.only)
        times = sorted(time for each in evals for time in each.replies_ms)
        return times[math.ceil(share * len(times)) - 1] if times else None


def _trials(found: EvalSummary) -> int:
    return found.counts.scored + found.counts.unscored


def ranked(pools: Sequence[Sequence[Summary]], only: frozenset[str] | None = None) -> list[Standing]:
    """The standings of some models, each by its runs, best first.

    Equal pass rates share a rank and stand in the order of their names. A model without a scored trial has none.
    """
    found = [each for each in (Standing(tuple(runs), only) for runs in pools) if each.counts.scored]
    places = tied_ranks([Fraction(each.counts.passed, each.counts.scored) for each in found])
    ranges = rank_ranges([each.tallies for each in found])
    for each, place, (best, worst) in zip(found, places, ranges, strict=True):
        each.rank = place
        # Where evals have unequal numbers of trials, the order of all trials may be another than that of evals.
        each.ranks = min(best, place), max(worst, place)
    return sorted(found, key=lambda standing: (standing.rank, standing.latest.model))


@dataclass(frozen=True)
class Ranking:
    """The models of one experiment."""

    experiment: str
    standings: Sequence[Standing]  # best first
    benchmark: str | None = None  # the id of what all runs are of; None where they need not be of the same
    minted: BenchmarkHead | None = None  # of which the experiment has that id
    plan: RunPlan | None = None  # of a run that is ranked
    shared: tuple[Benchmark, Benchmark] | None = None  # whose common evals count

    @property
    def without_run(self) -> list[str]:
        """Curated models that are not ranked."""
        have = {standing.latest.model for standing in self.standings}
        return [slug for slug in self.minted.models if slug not in have] if self.minted else []

    @property
    def trials(self) -> int:
        """Of an eval in a run, the fewest of all models; 1 where none is ranked."""
        return min((standing.trials for standing in self.standings), default=1)

    @property
    def provisional(self) -> bool:
        """Whether that is a model's place."""
        return any(standing.provisional for standing in self.standings)

    @property
    def guidelines_sha256(self) -> str | None:
        """Of what the models were given; None where that is nothing, or no model is ranked."""
        own = self.minted.experiments[self.experiment] if self.minted else self.plan
        return own.guidelines_sha256 if own else None

    @property
    def words(self) -> str:
        """What people read: how many evals, which guidelines and backend, and the benchmark's id."""
        own = self.minted or self.plan
        if own is None or not self.standings:
            return ""
        given = self.guidelines_sha256
        evals = counted(self.standings[0].evals, "eval")
        if self.shared:
            both = " and ".join(f"{each.name} ({len(each.evals)})" for each in self.shared)
            evals = f"{evals} that {both} share"
        asked = f"guidelines {given[:8]}" if given else "no guidelines"
        known_as = self.minted.version if self.minted else self.benchmark
        identity = f" (benchmark {known_as[:8]})" if known_as else ""
        if own.backend is None:
            return f"{counted(self.standings[0].evals, 'session')}, {asked}{identity}"
        return f"{evals}, {asked}, {own.backend.kind} backend{identity}"

    @property
    def name(self) -> str:
        """`default`, or `default, v1`."""
        return f"{self.experiment}, {self.minted.name}" if self.minted else self.experiment

    @property
    def heading(self) -> str:
        return f"{self.name}: {self.words}" if self.words else self.name


@dataclass(frozen=True)
class Leaderboard:
    rankings: Sequence[Ranking]
    unranked: Sequence[Unranked]
    notes: Sequence[str] = ()  # lines
