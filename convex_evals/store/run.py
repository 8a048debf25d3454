"""A run on disk: `<runs>/<provider>/<model>/<date>/<run id>/`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records import Generation, GenerationFile, GradeFile, Pruned, RunPlan, Summary
from convex_evals.records.benchmark import benchmark_id
from convex_evals.records.grading_inputs import grade_name
from convex_evals.store.files import read_confined, write_atomic
from convex_evals.store.paths import VALIDATION, slug_folders, top_of
from convex_evals.store.records import find_record, read_record, write_record
from convex_evals.store.run_checks import (
    GenerationsByTrial,
    refuse_elsewhere,
    refuse_other_eval,
    refuse_other_evals,
    refuse_wrong_figures,
)

PLAN_NAME = "run.json"
SUMMARY_NAME = "summary.json"
GENERATION_NAME = "generation.json"
PRUNED_NAME = "pruned.json"
_REPLY_NAME = re.compile(r"[1-9][0-9]{0,3}\.md")


def open_run(folder: Path) -> Run:
    """The run in exactly this folder. Raises `UserError` where the plan in it says that it is another one."""
    folder = Path(os.path.normpath(folder.absolute()))
    path = folder / PLAN_NAME
    root = top_of(folder)
    if root is None:
        raise UserError(f"{path}: a run stands in RUNS/PROVIDER/MODEL/DATE/RUN")
    plan = read_record(path, RunPlan, root)
    refuse_elsewhere(path, plan)
    return Run(folder, plan)


@lru_cache(maxsize=1_000)  # it is asked for several times for each file
def _eval_folder(run: Path, eval_id: str) -> Path:
    return run.joinpath("evals", eval_id)


@lru_cache
def _day_of(model_folder: Path, root: Path, run_id: str) -> str | None:
    days = confined.entries(model_folder, root)
    own = next((day for day in days if confined.is_file(model_folder / day / run_id / PLAN_NAME, root)), None)
    if own is not None:
        return own
    names = [model_folder / day / name for day in days for name in confined.entries(model_folder / day, root)]
    paths = (folder / run_id / PLAN_NAME for folder in names if folder.name.startswith(VALIDATION))
    return next((read_record(p, RunPlan, root).date for p in paths if confined.is_file(p, root)), None)


@dataclass(frozen=True)
class Run:
    """One run's folder."""

    folder: Path
    plan: RunPlan

    @property
    def is_complete(self) -> bool:
        """Whether every eval is written and counted."""
        summary = self.summary()
        return summary is not None and not summary.missing

    @cached_property
    def root(self) -> Path:
        """The folder of all runs. Nothing below it is read or written through a link."""
        top = top_of(self.folder)
        assert top is not None, "open_run refuses such a folder"
        return top

    def summary(self) -> Summary | None:
        """None where none is written yet; it names evals in `missing` where the run was finished without them."""
        path = self.folder / SUMMARY_NAME
        summary = find_record(path, Summary, self.root)
        if summary is not None:
            refuse_elsewhere(path, summary)
            refuse_other_evals(path, self.plan, summary)
            refuse_wrong_figures(path, self.plan, summary)
        return summary

    @property
    def benchmark(self) -> str:
        """The id of what it is of: by the grade files that count, or as planned where it is not complete."""
        summary = self.summary()
        return summary.benchmark if summary else benchmark_id(self.plan)

    def eval_folder(self, eval_id: str) -> Path:
        return _eval_folder(self.folder, eval_id)

    def is_written(self, eval_id: str) -> bool:
        """Whether this eval's trials are done. Its grade file is written last."""
        return self.has_grade(eval_id, self.plan.evals[eval_id].grading_key)

    def has_generation(self, eval_id: str) -> bool:
        return confined.is_file(self.eval_folder(eval_id) / GENERATION_NAME, self.root)

    def generation(self, eval_id: str) -> GenerationFile:
        path = self.eval_folder(eval_id) / GENERATION_NAME
        file = read_record(path, GenerationFile, self.root)
        refuse_other_eval(path, self.plan, eval_id, file)
        return file

    def generations(self, eval_id: str) -> Mapping[int, Generation]:
        """By trial. Raises `UserError` where one is asked for that is not there."""
        return GenerationsByTrial(self.generation(eval_id), self.eval_folder(eval_id) / GENERATION_NAME)

    def asked_on(self, generation: Generation) -> str | None:
        """The day on which the run began that asked for this reply; None where that run is no longer here."""
        if generation.reused_from is None:
            return self.plan.date
        return _day_of(self.root.joinpath(*slug_folders(self.plan.model)), self.root, generation.reused_from)

    def grade(self, eval_id: str, summary: Summary | None = None) -> GradeFile:
        """Return the verdicts that count: those that the summary names, else those under the plan's own key.

        `summary` is the run's, where it was read before.
        """
        summary = summary or self.summary()
        named = summary.evals.get(eval_id) if summary else None
        name = named.grade if named else grade_name(self.plan.evals[eval_id].grading_key)
        return self.grade_file(eval_id, name)

    def grade_file(self, eval_id: str, name: str) -> GradeFile:
        path = self.eval_folder(eval_id) / name
        file = read_record(path, GradeFile, self.root)
        refuse_other_eval(path, self.plan, eval_id, file)
        if grade_name(file.grading_key) != name:
            raise UserError(f"{path}: was graded under the key {file.grading_key[:8]}; restore it from Git")
        return file

    def has_grade(self, eval_id: str, grading_key: str) -> bool:
        return confined.is_file(self.eval_folder(eval_id) / grade_name(grading_key), self.root)

    @property
    def pruned(self) -> Pruned | None:
        """What was dropped of it on request; None where nothing was."""
        return find_record(self.folder / PRUNED_NAME, Pruned, self.root)

    def reply(self, eval_id: str, trial: int) -> str | None:
        """The raw reply to a trial; None where it is not there."""
        return read_confined(self.eval_folder(eval_id) / f"{trial}.md", self.root)

    def response(self, eval_id: str, trial: int) -> str | None:
        """The raw reply to a trial; None where none was received.

        Raises `UserError` where it was received, and is no longer here.
        """
        found = self.reply(eval_id, trial)
        if found is None and any(g.trial == trial and g.received for g in self.generation(eval_id).trials):
            why = "responses were pruned" if self.pruned else "the reply is missing; restore it from Git"
            raise UserError(f"{self.eval_folder(eval_id) / f'{trial}.md'}: {why}")
        return found

    def prune(self, day: str) -> int:
        """Drop the raw replies, marked first, so that a reader never wonders; the bytes that were freed."""
        replies = self.replies()
        size = self.size_of(replies)
        pruned = Pruned(date=day, responses=len(replies), bytes=size)
        write_record(self.folder / PRUNED_NAME, pruned, self.root)
        for path in replies:
            confined.remove_file(path, self.root)
        return size

    def replies(self) -> list[Path]:
        """The files with raw replies, of the evals of the plan."""
        folders = [self.eval_folder(eval_id) for eval_id in sorted(self.plan.evals)]
        return [
            folder / name
            for folder in folders
            for name, kind in confined.entries(folder, self.root).items()
            if kind == "file" and _REPLY_NAME.fullmatch(name)
        ]

    def size_of(self, paths: Iterable[Path]) -> int:
        """In bytes, together."""
        return sum(confined.size_of(path, self.root) for path in paths)

    def write_eval(self, generation: GenerationFile, responses: Mapping[int, str], grade: GradeFile) -> None:
        """All files of one eval, the grade last: where it is, the others are."""
        folder = self.eval_folder(generation.eval)
        for trial, response in responses.items():
            write_atomic(folder / f"{trial}.md", response, self.root)
        write_record(folder / GENERATION_NAME, generation, self.root)
        write_record(folder / grade_name(grade.grading_key), grade, self.root)

    def write_grade(self, grade: GradeFile) -> None:
        """Another grade file of an eval whose other files are there."""
        write_record(self.eval_folder(grade.eval) / grade_name(grade.grading_key), grade, self.root)

    def write_summary(self, summary: Summary) -> None:
        write_record(self.folder / SUMMARY_NAME, summary, self.root)
