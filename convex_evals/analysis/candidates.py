"""Which runs could be ranked, told from their summaries alone, and why the others are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.inputs.confined import is_file
from convex_evals.records import Counts, EvalSummary, RunPlan, Summary
from convex_evals.records.benchmark import Benchmark
from convex_evals.records.run import part_of_suite
from convex_evals.records.summary import MOST_UNSCORED
from convex_evals.store.records import read_plain_or_data, to_record
from convex_evals.store.run import SUMMARY_NAME, Run, open_run
from convex_evals.store.run_checks import refuse_elsewhere, refuse_other_evals, refuse_wrong_figures
from convex_evals.store.runs import RunStore
from convex_evals.store.validations import validations

# Such a run says more about a provider's bad day than about the model.
TOO_MANY_UNSCORED = f"with more than {MOST_UNSCORED}% of their trials unscored"
SYNTHETIC = "synthetic"
DRAFT = "of uncommitted changes to the suite"
_WORDS = ("experiment", "model", "run_id", "date", "benchmark")


@dataclass(frozen=True)
class Unranked:
    """A run that is in no ranking."""

    run_id: str
    model: str
    experiment: str
    date: str
    counts: Counts | None  # None: it has no summary
    reason: str
    guidelines: str | None = None  # where they came from; None: none were given

    @classmethod
    def planned(cls, plan: RunPlan, reason: str, counts: Counts | None = None) -> Unranked:
        return cls(plan.run_id, plan.model, plan.experiment, plan.date, counts, reason, plan.guidelines)


@dataclass(frozen=True)
class Candidate:
    """A summary of which the parts that are read here have been looked at; `data` are its keys.

    The rest of it is looked at where it is ranked, unless it was plainly as it should be.
    """

    path: Path
    data: Mapping[str, Any]
    summary: Summary | None = None
    plan: RunPlan | None = None  # where it was read and held against the summary

    @property
    def experiment(self) -> str:
        return str(self.data["experiment"])

    @property
    def model(self) -> str:
        return str(self.data["model"])

    @property
    def benchmark(self) -> str:
        return str(self.data["benchmark"])

    @property
    def evals(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.data["evals"]
        return found

    @property
    def grades(self) -> dict[str, object]:
        """The names of the grade files that count, by eval."""
        return {e: own.grade if isinstance(own, EvalSummary) else own.get("grade") for e, own in self.evals.items()}

    @property
    def judged(self) -> set[str]:
        """The evals that have a scored trial."""
        return {name for name, own in self.evals.items() if _is_judged(own)}

    @property
    def counts(self) -> Counts:
        return Counts.model_validate(self.data["counts"])

    @property
    def replies_of(self) -> set[str]:
        """The runs that paid for its replies, itself included where it paid for some."""
        if self.summary:
            return self.summary.replies_of
        counts = self.counts
        trials = counts.scored + counts.unscored
        used = set(self.data.get("reused_from", ()))
        return used if used and self.data.get("reused") == trials else used | {str(self.data["run_id"])}

    @property
    def part(self) -> str | None:
        return part_of_suite(len(self.evals), self.data.get("suite_evals"))

    @property
    def guidelines(self) -> str | None:
        return self.data.get("guidelines")

    def unlike(self, other: Candidate | Benchmark) -> str:
        """Why it is not ranked with a run, or under a benchmark, that has another id."""
        own, asked = self.grades, other.grades() if isinstance(other, Benchmark) else other.grades
        if own.keys() != asked.keys():
            return "of other evals"
        if own != asked:
            return "with verdicts of other graders (`cli regrade` judges them again)"
        given = (
            other.experiments[self.experiment].guidelines_sha256
            if isinstance(other, Benchmark)
            else other.data.get("guidelines_sha256")
        )
        what = "guidelines" if self.data.get("guidelines_sha256") != given else "prompt or settings"
        return f"with other {what}"

    def checked(self) -> tuple[RunPlan, Summary]:
        """Its plan and its summary. Raises `UserError`, `WrongFigures` where they contradict each other."""
        if self.plan and self.summary:
            return self.plan, self.summary
        summary = self.summary or to_record(dict(self.data), self.path, Summary)
        refuse_elsewhere(self.path, summary)
        plan = open_run(self.path.parent).plan
        refuse_other_evals(self.path, plan, summary)
        refuse_wrong_figures(self.path, plan, summary)
        return plan, summary


@dataclass
class Candidates:
    """Newest first."""

    runs: list[Candidate] = field(default_factory=list)
    unranked: list[Unranked] = field(default_factory=list)

    def leave_out(self, run: Candidate, reason: str) -> None:
        own = run.data
        found = Unranked(own["run_id"], run.model, run.experiment, own["date"], run.counts, reason, run.guidelines)
        self.unranked.append(found)

    def keep(self, why_not: Callable[[Candidate], str | None]) -> None:
        """Leave out those that `why_not` gives a reason for."""
        kept = []
        for found in self.runs:
            reason = why_not(found)
            if reason is None:
                kept.append(found)
            else:
                self.leave_out(found, reason)
        self.runs = kept


KnownRuns = Sequence[tuple[Run, Summary | None]]  # newest first, as `RunStore.readable` gives them


def known_candidates(known: KnownRuns, experiments: Iterable[str] | None, *, drafts: bool) -> Candidates:
    """As `read_candidates`, of runs that were read and checked before."""
    wanted = None if experiments is None else set(experiments)
    found = Candidates()
    for run, summary in known:
        if wanted is not None and run.plan.experiment not in wanted:
            continue
        if summary is None:
            found.unranked.append(Unranked.planned(run.plan, "not complete"))
        else:
            found.runs.append(Candidate(run.folder / SUMMARY_NAME, vars(summary), summary, run.plan))
    found.keep(lambda each: _why_not(each, drafts))
    return found


def read_candidates(store: RunStore, experiments: Iterable[str] | None, *, drafts: bool) -> Candidates:
    """The runs of `experiments` (None: of all) that could be ranked; `drafts`: those of uncommitted changes, too."""
    wanted = None if experiments is None else set(experiments)
    found = Candidates()
    for folder in store.folders():
        try:
            each = _look_at(folder, store.root)
        except UserError as error:
            store.leave_out(error)
            continue
        if wanted is not None and each.experiment not in wanted:
            continue
        if isinstance(each, RunPlan):
            found.unranked.append(Unranked.planned(each, "not complete"))
        else:
            found.runs.append(each)
    found.keep(lambda each: _why_not(each, drafts))
    return found


def _look_at(folder: Path, root: Path) -> Candidate | RunPlan:
    """The summary of a run; the plan where there is no summary."""
    path = folder / SUMMARY_NAME
    return _read(path, root) if is_file(path, root) else open_run(folder).plan


def _read(path: Path, root: Path) -> Candidate:
    found = read_plain_or_data(path, Summary, root)
    if isinstance(found, Summary):
        return Candidate(path, vars(found), found)
    if not _is_plain(found):
        to_record(found, path, Summary)
    return Candidate(path, found)


def _why_not(found: Candidate, drafts: bool) -> str | None:
    counts = found.counts
    if found.data.get("synthetic"):
        return SYNTHETIC
    if found.data.get("missing"):
        return "not complete"
    if not counts.scored:
        return "without a scored trial"
    if servers := found.data.get("elsewhere"):
        return f"asked at {servers[0]}, under a provider's name (give it one of its own in models.yaml)"
    if not drafts and found.data.get("suite_commit") is None:
        return DRAFT
    return None


def _is_plain(data: dict[str, Any]) -> bool:
    """Whether what is read before the checks has the types that it should have."""
    counts, evals, reused = data.get("counts"), data.get("evals"), data.get("reused_from", [])
    return (
        isinstance(counts, dict)
        and all(type(n) is int and 0 <= n < 10**15 for n in counts.values())
        and counts.keys() <= Counts.model_fields.keys()
        and isinstance(evals, dict)
        and all(isinstance(found, dict) for found in evals.values())
        and isinstance(reused, list)
        and all(isinstance(run, str) for run in reused)
        and all(isinstance(data.get(name), str) for name in _WORDS)
    )


def _is_judged(found: EvalSummary | Mapping[str, Any]) -> bool:
    if isinstance(found, EvalSummary):
        return found.counts.scored > 0
    counts = found.get("counts")
    return isinstance(counts, dict) and any(counts.get(name) for name in ("passed", "failed"))


def of_validations(store: RunStore, experiment: str | None) -> Sequence[Unranked]:
    """The runs that screened or confirmed a change of guidelines."""
    found = [(run.plan, run.summary()) for folder in validations(store) for run in folder.runs()]
    return [
        Unranked.planned(plan, "made by validate-guidelines", summary.counts if summary else None)
        for plan, summary in found
        if experiment in (None, plan.experiment)
    ]


def reasons(unranked: Iterable[Unranked]) -> dict[str, int]:
    """How many runs are left out for each reason, most frequent first."""
    return dict(Counter(each.reason for each in unranked).most_common())
