"""Who does best: each model's latest runs of one benchmark, under each experiment, ranked by pass rate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from convex_evals.analysis.benchmarks import asked_otherwise
from convex_evals.analysis.candidates import (
    TOO_MANY_UNSCORED,
    Candidate,
    Candidates,
    KnownRuns,
    known_candidates,
    of_validations,
    read_candidates,
)
from convex_evals.analysis.ranking import Leaderboard, Ranking, Standing, ranked
from convex_evals.analysis.verdicts import VerdictBoard, newest_verdicts
from convex_evals.config import ProjectConfig
from convex_evals.errors import UserError, WrongFigures
from convex_evals.records import RunPlan, Summary
from convex_evals.records.benchmark import Benchmark, BenchmarkHead
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.runs import RunStore
from convex_evals.text import listed

LATEST = 10


@dataclass
class Ranker:
    """Ranks the runs of a store, and keeps in mind which it left out and why."""

    store: RunStore
    config: ProjectConfig
    benchmarks: BenchmarkFolder
    drafts: bool = True  # whether runs of uncommitted changes are ranked
    latest: int = LATEST  # runs of a model that count
    known: KnownRuns | None = None  # what the store has, where that was read before
    _found: Candidates = field(default_factory=Candidates)
    _notes: list[str] = field(default_factory=list)

    def all(self, experiment: str | None = None) -> Leaderboard:
        """The rankings of all experiments, or of one.

        Ranks within one benchmark: the newest that is minted and has runs, else what most models have run. Reads
        summaries, and the plans of what is ranked.
        """
        self._read_rankable(None if experiment is None else [experiment])
        minted = self.benchmarks.heads()
        rankings = [self._one(name, own, minted) for name, own in _by_experiment(self._found.runs)]
        return self._board([each for each in rankings if each.standings])

    def of(self, benchmark: BenchmarkHead, experiment: str | None = None) -> Leaderboard:
        """The rankings of exactly this one, under each of its experiments or one of them.

        Those without a run are left out; without any run at all, one without standings is returned. Raises `UserError`
        for an experiment that it does not have.
        """
        names = sorted(_chosen(benchmark, experiment), key=_order)
        self._read_rankable(names)
        runs = dict(_by_experiment(self._found.runs))
        rankings = [self._under(benchmark, name, runs.get(name, [])) for name in names]
        ranked = [each for each in rankings if each.standings]
        if ranked and len(ranked) < len(rankings):
            empty = listed([each.experiment for each in rankings if not each.standings])
            self._notes.append(f"{benchmark.name}: no run yet under {empty}.")
        return self._board(ranked or rankings[:1])

    def shared(self, first: Benchmark, second: Benchmark, experiment: str | None = None) -> Leaderboard:
        """The rankings over the evals that two benchmarks judge alike, under the experiments that both ask alike.

        Raises `UserError` where there are no such evals, or no such experiment.
        """
        names, notes = _asked_alike(first, second, experiment)
        only = shared_evals(first, second)
        self._read_rankable(names)
        self._notes += notes
        why = f"of neither {first.name} nor {second.name}"
        ids = first.ids | second.ids
        self._found.keep(lambda run: None if run.benchmark in ids else why)
        rankings = []
        for name, runs in _by_experiment(self._found.runs):
            standings, plan = self._rank(runs, only)
            rankings.append(Ranking(name, standings, plan=plan, shared=(first, second)))
        return self._board(rankings)

    def newest_verdicts(self, experiment: str | None = None) -> VerdictBoard:
        """What each model's runs say last, whatever their benchmark: a matrix compares models eval by eval."""
        self._read(None if experiment is None else [experiment])
        self._found.keep(self._given_others)
        found = [(name, newest_verdicts(own, self._summary)) for name, own in _by_experiment(self._found.runs)]
        return VerdictBoard([(name, models) for name, models in found if models], self._found.unranked)

    def validating(self, board: Leaderboard, experiment: str | None = None) -> Leaderboard:
        """The same with the runs that screened and confirmed changes of guidelines among the unranked."""
        return Leaderboard(board.rankings, [*board.unranked, *of_validations(self.store, experiment)], board.notes)

    def _read(self, experiments: Iterable[str] | None) -> None:
        if self.known is None:
            self._found = read_candidates(self.store, experiments, drafts=self.drafts)
        else:
            self._found = known_candidates(self.known, experiments, drafts=self.drafts)
        self._notes = []

    def _read_rankable(self, experiments: Iterable[str] | None) -> None:
        """Without runs whose rate may be that of what the model liked to answer, or the provider to deliver."""
        self._read(experiments)
        self._found.keep(lambda run: TOO_MANY_UNSCORED if run.counts.too_many_unscored else None)

    def _board(self, rankings: Sequence[Ranking]) -> Leaderboard:
        return Leaderboard(rankings, self._found.unranked, self._notes)

    def _one(self, experiment: str, own: list[Candidate], minted: Sequence[BenchmarkHead]) -> Ranking:
        """The ranking of one experiment, by the newest of `minted` that has runs."""
        ids = {run.benchmark for run in own}
        possible = [each for each in minted if experiment in each.experiments]
        chosen = next((each for each in possible if each.experiments[experiment].id in ids), None)
        newer = [each.name for each in possible[: possible.index(chosen) if chosen else None]]
        if newer:
            instead = chosen.name if chosen else "what most models ran"
            self._notes.append(f"{experiment}: no run of {' or '.join(newer)} yet, so {instead} is ranked.")
        return self._under(chosen, experiment, own) if chosen else self._most_run(experiment, own)

    def _under(self, minted: BenchmarkHead, experiment: str, own: Sequence[Candidate]) -> Ranking:
        benchmark = minted.experiments[experiment].id
        alike = [run for run in own if run.benchmark == benchmark]
        example = alike[0] if alike else self.benchmarks.read(minted.name)
        self._leave_out_others(own, benchmark, example)
        standings, plan = self._rank(alike)
        return Ranking(experiment, standings, benchmark, minted, plan)

    def _most_run(self, experiment: str, own: Sequence[Candidate]) -> Ranking:
        usual = []
        for run in own:
            why = self._given_others(run) or (run.part and f"partial: {run.part}")
            if why is None:
                usual.append(run)
            else:
                self._found.leave_out(run, why)
        if not usual:
            return Ranking(experiment, [])
        chosen = _most_common(usual)
        self._leave_out_others(usual, chosen.benchmark, chosen)
        standings, plan = self._rank([run for run in usual if run.benchmark == chosen.benchmark])
        return Ranking(experiment, standings, chosen.benchmark, plan=plan)

    def _leave_out_others(self, runs: Iterable[Candidate], benchmark: str, example: Candidate | Benchmark) -> None:
        for run in runs:
            if run.benchmark != benchmark:
                self._found.leave_out(run, run.unlike(example))

    def _given_others(self, run: Candidate) -> str | None:
        """Why not, where it was given an old version or a draft: that says nothing about how a model does."""
        own = self.config.experiments.get(run.experiment)
        is_other = own is not None and run.guidelines is not None and run.guidelines != own.guidelines
        return "with other guidelines than the experiment names" if is_other else None

    def _rank(
        self, runs: Iterable[Candidate], only: frozenset[str] | None = None
    ) -> tuple[list[Standing], RunPlan | None]:
        """The standings of each model's latest of `runs`, newest first, and the plan of one. A reply counts once."""
        pools: dict[str, list[Summary]] = {}
        replies: dict[str, set[str]] = {}  # by model: the runs whose replies count
        example = None
        for run in runs:
            pool, counting = pools.setdefault(run.model, []), replies.setdefault(run.model, set())
            if run.replies_of & counting:
                self._found.leave_out(run, "with replies that a newer run counts")
            elif len(pool) >= self.latest:
                if self.latest > 1:
                    self._found.leave_out(run, f"older than the latest {self.latest} of its model")
            else:
                found = self._checked(run)
                if found is not None:
                    pool.append(found[1])
                    counting |= run.replies_of
                    example = example or found[0]
        return ranked([pool for pool in pools.values() if pool], only), example

    def _summary(self, run: Candidate) -> Summary | None:
        found = self._checked(run)
        return None if found is None else found[1]

    def _checked(self, run: Candidate) -> tuple[RunPlan, Summary] | None:
        """None, and left out, where its files contradict each other or cannot be read."""
        try:
            return run.checked()
        except WrongFigures as error:
            self._found.leave_out(run, f"refused ({error})")
            if self.store.left_out is not None:
                self.store.leave_out(error)
        except UserError as error:
            self.store.leave_out(error)
        return None


def shared_evals(first: Benchmark, second: Benchmark) -> frozenset[str]:
    """The evals whose verdicts mean the same in both. Raises `UserError` where there are none."""
    names = f"{first.name} {second.name}"
    found = frozenset(e for e, own in first.evals.items() if e in second.evals and own == second.evals[e])
    if not found:
        raise UserError(
            f"--shared {names}: no eval is graded alike in both; `cli benchmark diff {names}` says what changed"
        )
    return found


def _asked_alike(first: Benchmark, second: Benchmark, experiment: str | None) -> tuple[list[str], list[str]]:
    """The experiments under which both ask alike, and a line on each of the others.

    Raises `UserError` where there are none, or one of them does not have `experiment`.
    """
    both = {name for each in (first, second) for name in _chosen(each, experiment)}
    other = {name: words for name, words in asked_otherwise(first, second).items() if name in both}
    alike = sorted(both - other.keys(), key=_order)
    notes = [f"{name}: not comparable, for it is {words}." for name, words in sorted(other.items())]
    if not alike:
        names = f"{first.name} {second.name}"
        why = "; ".join(f"{name} is {words}" for name, words in sorted(other.items()))
        raise UserError(
            f"--shared {names}: under no experiment are models asked alike, so the scores cannot be compared: {why}; "
            f"`cli benchmark diff {names}` says more"
        )
    return alike, notes


def _chosen(benchmark: BenchmarkHead, experiment: str | None) -> list[str]:
    """Its experiments, or this one of them. Raises `UserError`."""
    if experiment is not None and experiment not in benchmark.experiments:
        raise UserError(
            f"{benchmark.name}: has no experiment {experiment[:60]}; it has: {', '.join(benchmark.experiments)}"
        )
    return [experiment] if experiment else list(benchmark.experiments)


def _order(experiment: str) -> tuple[bool, str]:
    """The default experiment first, then by name."""
    return experiment != "default", experiment


def _by_experiment(runs: Sequence[Candidate]) -> list[tuple[str, list[Candidate]]]:
    """In their order."""
    found: dict[str, list[Candidate]] = {}
    for run in runs:
        found.setdefault(run.experiment, []).append(run)
    return sorted(found.items(), key=lambda pair: _order(pair[0]))


def _most_common(runs: Sequence[Candidate]) -> Candidate:
    """One of those of the benchmark that most models ran; of equals, of most evals, and then of the newest run."""
    groups: dict[str, list[Candidate]] = {}
    for run in runs:
        groups.setdefault(run.benchmark, []).append(run)
    return max(groups.values(), key=lambda alike: (len({run.model for run in alike}), len(alike[0].evals)))[0]
