"""Whether the files of a run belong together. Each check raises `UserError` where they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.errors import UserError, WrongFigures
from convex_evals.records import CategorySummary, Counts, Generation, GenerationFile, GradeFile, RunPlan, Summary, Usage
from convex_evals.records.benchmark import benchmark_id
from convex_evals.store.paths import VALIDATION, slug_folders

if TYPE_CHECKING:
    from convex_evals.records.validation import ValidationRecord

# What a summary repeats of the plan.
_COPIED = ("experiment", "synthetic", "guidelines", "guidelines_sha256", "suite_commit", "suite_evals")


class GenerationsByTrial(dict[int, Generation]):
    """Replies by trial. Raises `UserError` for a trial that a grade file has and this has not."""

    def __init__(self, file: GenerationFile, path: Path) -> None:
        super().__init__({g.trial: g for g in file.trials})
        self._path = path

    def __missing__(self, trial: int) -> Generation:
        raise UserError(f"{self._path}: no trial {trial}, which was graded; restore the file from Git")


def refuse_elsewhere(path: Path, named: RunPlan | Summary) -> None:
    """What stands in a file must be what its place says: everything else goes by the place."""
    place = path.parent
    if place.parent.name.startswith(VALIDATION):
        # A round has its own day, which is not that of the validation.
        _refuse(path, named.model, (*place.parts[-3:-1], named.run_id))
    else:
        _refuse(path, named.model, (named.date, named.run_id))


def refuse_validation_elsewhere(path: Path, named: ValidationRecord) -> None:
    _refuse(path, named.model, path.parent.parts[-2:])


def _refuse(path: Path, model: str, below: tuple[str, ...]) -> None:
    own = (*slug_folders(model), *below)
    if path.parent.parts[-len(own) :] != own:
        raise UserError(
            f"{path}: says that it belongs to {'/'.join(own)}, which is another folder; restore it from Git, or move "
            "the folder there"
        )


def refuse_other_eval(path: Path, plan: RunPlan, eval_id: str, file: GenerationFile | GradeFile) -> None:
    """A file of one eval must be about that eval, and about trials that were planned."""
    trials = [t.trial for t in file.trials]
    if file.eval != eval_id:
        raise UserError(f"{path}: is about {file.eval}; restore it from Git")
    if not trials or trials != sorted(set(trials)) or trials[-1] > plan.trials:
        raise UserError(f"{path}: its trials are not of 1 to {plan.trials}, in order; restore it from Git")


def refuse_other_evals(path: Path, plan: RunPlan, summary: Summary) -> None:
    """A summary must be about the evals that were planned, all of them."""
    other = [e for e in (*summary.evals, *summary.missing) if e not in plan.evals]
    lost = [e for e in plan.evals if e not in summary.evals and e not in summary.missing]
    categories = {e.partition("/")[0] for e in summary.evals}
    if other or lost or categories != summary.categories.keys():
        what = f"{other[0]} is not in run.json" if other else f"nothing about {lost[0]}" if lost else "other categories"
        raise WrongFigures(f"{path}: {what}; restore it from Git, or `cli finish {plan.run_id}` makes it again")


def refuse_wrong_figures(path: Path, plan: RunPlan, summary: Summary) -> None:
    """Its totals must be sums of its parts, and no eval may have more trials than were planned. Reads nothing."""
    wrong = next(_wrong_figures(plan, summary), None)
    if wrong:
        raise WrongFigures(f"{path}: {wrong}; `cli finish {plan.run_id}` makes it again")


def _wrong_figures(plan: RunPlan, summary: Summary) -> Iterator[str]:
    other = next((name for name in _COPIED if getattr(plan, name) != getattr(summary, name)), None)
    if other:
        yield f"{other} is not that of run.json"
    if summary.benchmark != benchmark_id(plan, {e: found.grade for e, found in summary.evals.items()}):
        yield "benchmark is not that of run.json and of the grade files that count"
    by_category: dict[str, list[tuple[int, ...]]] = {name: [] for name in summary.categories}
    for eval_id, found in summary.evals.items():
        trials = _outcomes(found.counts)
        if not 1 <= sum(trials) <= plan.trials:
            yield f"{eval_id} has {sum(trials)} trials, not 1 to {plan.trials}"
        by_category[eval_id.partition("/")[0]].append(trials)
    for name, category in summary.categories.items():
        own = _outcomes(category.counts)
        if own != _sums(by_category[name], own):
            yield f"counts of {name} are not the sums of its evals"
        if sum(category.unscored.values()) != category.counts.unscored:
            yield f"unscored of {name} has other trials than its counts"
    parts = tuple(summary.categories.values())
    reasons: Counter[str] = Counter()
    for part in parts:
        reasons.update(part.unscored)
    whole, amounts = _outcomes(summary.counts), _amounts(summary)
    if whole != _sums((_outcomes(part.counts) for part in parts), whole):
        yield "counts are not the sums of the categories"
    if +Counter(summary.unscored) != +reasons:
        yield "unscored is not the sum of the categories"
    if amounts != _sums(map(_amounts, parts), amounts):
        yield "tokens or times are not the sums of the categories"
    # Each figure is rounded.
    rounding = 1e-6 * (len(parts) + 1) + 1e-12 * summary.replies_cost_usd
    if abs(summary.cost_usd - sum(part.cost_usd for part in parts)) > rounding:
        yield "cost_usd is not the sum of the categories"
    if summary.replies_cost_usd < summary.cost_usd - rounding:
        yield "replies_cost_usd is less than cost_usd, which is a part of it"
    if summary.reused > sum(whole):
        yield "reused is more than all trials"


def _outcomes(counts: Counts) -> tuple[int, ...]:
    return counts.passed, counts.failed, counts.unscored


def _amounts(part: CategorySummary | Summary) -> tuple[int, ...]:
    return part.generation_ms, part.grading_ms, *(getattr(part.usage, name) for name in Usage.model_fields)


def _sums(rows: Iterable[tuple[int, ...]], like: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*rows, strict=True))) or (0,) * len(like)
