"""Whether the files of a run belong together. Each check raises `UserError` where they do not."""

from __future__ import annotations

from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records import Generation, GenerationFile, GradeFile, RunPlan, Summary
from convex_evals.records.validation import ValidationRecord
from convex_evals.store.paths import VALIDATION, slug_folders


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
        raise UserError(f"{path}: {what}; restore it from Git, or `cli finish {plan.run_id}` makes it again")
