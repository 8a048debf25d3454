"""Validations on disk: `<runs>/<provider>/<model>/<date>/validation-<id>/`, with their runs and findings inside.

Lists of runs, the leaderboard and `last` do not look into them: what screens and what confirms is of evals that one
change of guidelines was about, and says nothing of a model. A reply is used again all the same, by either.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.inputs import confined
from convex_evals.records import RunPlan
from convex_evals.store.paths import VALIDATION, slug_folders
from convex_evals.store.records import find_record, write_record
from convex_evals.store.run import PLAN_NAME, Run, open_run
from convex_evals.store.run_checks import refuse_validation_elsewhere
from convex_evals.store.runs import RunStore

if TYPE_CHECKING:
    from convex_evals.records.validation import ValidationRecord

VALIDATION_NAME = "validation.json"


@dataclass(frozen=True)
class ValidationFolder:
    """What one change of guidelines was found to do to one model, and all runs that were made for it."""

    folder: Path
    root: Path  # of all runs

    def runs(self) -> list[Run]:
        """Newest first."""
        folders = [self.folder / name for name in confined.entries(self.folder, self.root)]
        found = [open_run(folder) for folder in folders if confined.is_file(folder / PLAN_NAME, self.root)]
        return sorted(found, key=newest, reverse=True)

    def opened(self, run_id: str) -> Run | None:
        folder = self.folder / run_id
        return open_run(folder) if confined.is_file(folder / PLAN_NAME, self.root) else None

    def create(self, plan: RunPlan) -> Run:
        run = Run(self.folder / plan.run_id, plan)
        write_record(run.folder / PLAN_NAME, plan, self.root)
        return run

    def same_work(self, plan: RunPlan) -> list[Run]:
        """Runs that screen and planned exactly what `plan` does. What was asked to confirm is never to screen."""
        wanted = plan.fingerprint_inputs()
        return [run for run in self.runs() if not run.plan.fresh and run.plan.fingerprint_inputs() == wanted]

    def read(self) -> ValidationRecord | None:
        """What was found; None while the validation is not finished."""
        from convex_evals.records.validation import ValidationRecord

        path = self.folder / VALIDATION_NAME
        found = find_record(path, ValidationRecord, self.root)
        if found is not None:
            refuse_validation_elsewhere(path, found)
        return found

    def write(self, found: ValidationRecord) -> None:
        write_record(self.folder / VALIDATION_NAME, found, self.root)


def newest(run: Run) -> tuple[str, str, tuple[str, ...]]:
    """To sort runs by, wherever they stand: day, then the time of planning, then by name."""
    return run.plan.date, run.plan.planned_at or "", run.folder.parts


def validations(store: RunStore, model: str | None = None) -> list[ValidationFolder]:
    """All, or those of one model."""
    return [ValidationFolder(folder, store.root) for folder in store.validations(model)]


def find_validation(store: RunStore, model: str, identity: str, day: str) -> ValidationFolder:
    """The one of this identity, begun on whichever day; a new one of `day` where there is none."""
    name = f"{VALIDATION}{identity}"
    new = store.root.joinpath(*slug_folders(model), day, name)
    there = next((found for found in store.validations(model) if found.name == name), new)
    return ValidationFolder(there, store.root)
