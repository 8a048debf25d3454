"""Results that other machines made, taken in as data.

A machine that executes what models wrote may hand over anything. So nothing is copied: of each eval that was planned
here, the records are read, checked and written as this machine writes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records.grading_inputs import grade_name
from convex_evals.store.batches import BatchFolder
from convex_evals.store.paths import VALIDATION
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.validations import find_validation, validations

RUNS = "runs"


def sources(folder: Path, *, may_be_none: bool = False) -> list[Path]:
    """List the folders of runs in `folder`: its own `runs/`, or that of each folder in it.

    Raises `UserError` if there is none, unless there `may_be_none`.
    """
    inside = sorted(name for name, kind in confined.entries(folder, folder).items() if kind == "folder")
    found = [folder / RUNS] if RUNS in inside else [folder / name / RUNS for name in inside]
    there = [place for place in found if confined.entries(place, folder)]
    if not there and not may_be_none:
        raise UserError(f"{folder}: has no results; --from takes a folder with runs/, or with folders that have one")
    return there


def collect_run(run: Run, places: Iterable[Path]) -> int:
    """Take in what `places` have of the evals that are not written here; how many those were. Raises `UserError`."""
    taken = 0
    for place in places:
        there = Run(place / run.folder.relative_to(run.root), run.plan)
        for eval_id, planned in run.plan.evals.items():
            if run.is_written(eval_id) or not there.is_written(eval_id):
                continue
            generation = there.generation(eval_id)
            if generation.generation_key != planned.generation_key:
                raise UserError(f"{there.eval_folder(eval_id)}: answers another prompt than {run.folder} planned")
            replies = {g.trial: there.response(eval_id, g.trial) for g in generation.trials}
            grade = there.grade_file(eval_id, grade_name(planned.grading_key))
            run.write_eval(generation, {trial: text for trial, text in replies.items() if text is not None}, grade)
            taken += 1
    return taken


def collect_batches(run: Run, places: Iterable[Path]) -> int:
    """Take in the batches that other machines submitted for `run`; return how many. Raises `UserError`."""
    folder = BatchFolder(run)
    return sum(folder.take_in(BatchFolder(Run(p / run.folder.relative_to(run.root), run.plan)).files()) for p in places)


def collect_validations(store: RunStore, places: Iterable[Path]) -> int:
    """Take in the runs of validations, with their plans; how many evals those were. Raises `UserError`."""
    taken = 0
    for place in places:
        for found in validations(RunStore(place)):
            for there in found.runs():
                identity = found.folder.name.removeprefix(VALIDATION)
                own = find_validation(store, there.plan.model, identity, found.folder.parent.name)
                run = own.opened(there.plan.run_id) or own.create(there.plan)
                # Each machine planned it when it began.
                if run.plan != there.plan.model_copy(update={"planned_at": run.plan.planned_at}):
                    raise UserError(f"{there.folder}: is another run than {run.folder}; remove one of them")
                taken += collect_run(run, [place])
    return taken
