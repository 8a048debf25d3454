"""The newest verdict of each model on each eval, whichever run it is from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from convex_evals.analysis.candidates import Candidate, Unranked
from convex_evals.records import Counts, Summary
from convex_evals.stats import tied_ranks


@dataclass(frozen=True)
class NewestVerdicts:
    """Of one model: its newest run of the whole suite, and what newer runs of a part of it say instead.

    Where neither has a verdict on an eval, an older run's counts.
    """

    model: str
    run_of: Mapping[str, Summary]  # by eval, the run that says it
    rank: int = 0

    @cached_property
    def runs(self) -> list[Summary]:
        """The runs, newest first."""
        own = {run.run_id: run for run in self.run_of.values()}
        return sorted(own.values(), key=lambda run: (run.date, run.run_id), reverse=True)

    def counts(self, eval_id: str) -> Counts | None:
        run = self.run_of.get(eval_id)
        return run.evals[eval_id].counts if run else None

    @cached_property
    def total(self) -> Counts:
        return Counts.total(run.evals[name].counts for name, run in self.run_of.items())


@dataclass(frozen=True)
class VerdictBoard:
    """The models of each experiment, best first, and the runs that are in none."""

    experiments: Sequence[tuple[str, Sequence[NewestVerdicts]]]
    unranked: Sequence[Unranked]


def newest_verdicts(runs: Iterable[Candidate], read: Callable[[Candidate], Summary | None]) -> list[NewestVerdicts]:
    """Those of each model of `runs`, which are newest first, the best model first; `read` gives None of what is not."""
    by_model: dict[str, list[Candidate]] = {}
    for run in runs:
        by_model.setdefault(run.model, []).append(run)
    found = [NewestVerdicts(model, _merged(own, read)) for model, own in by_model.items()]
    scored = [each for each in found if each.total.scored]
    ranks = tied_ranks([Fraction(each.total.passed, each.total.scored) for each in scored])
    ranked = [NewestVerdicts(each.model, each.run_of, rank) for each, rank in zip(scored, ranks, strict=True)]
    return sorted(ranked, key=lambda each: (each.rank, each.model))


def _merged(runs: Sequence[Candidate], read: Callable[[Candidate], Summary | None]) -> dict[str, Summary]:
    found: dict[str, Summary] = {}
    settled: set[str] = set()  # evals with a verdict
    is_whole = False
    for run in runs:
        judged = run.judged
        wanted = (found.keys() & judged if is_whole else run.evals.keys() - found.keys() | judged) - settled
        summary = read(run) if wanted else None
        if summary is not None:
            found |= dict.fromkeys(wanted, summary)
            settled |= judged
            is_whole |= run.part is None
        if is_whole and settled >= found.keys():
            break
    return found
