"""Runs on disk: `<runs>/<provider>/<model>/<date>/<run id>/`."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from convex_evals.errors import NewerFormat, UserError, WrongFigures
from convex_evals.inputs import confined
from convex_evals.inputs.confined import MOST_ENTRIES
from convex_evals.records import Generation, GenerationFile, GradeFile, Pruned, RunPlan, Summary
from convex_evals.store.files import MOST_TEXT, read_confined, write_atomic
from convex_evals.store.paths import VALIDATION, slug_folders, top_of
from convex_evals.store.records import find_record, read_record, write_record
from convex_evals.store.run_checks import (
    GenerationsByTrial,
    refuse_elsewhere,
    refuse_other_eval,
    refuse_other_evals,
    refuse_wrong_figures,
)
from convex_evals.text import JOINER

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


def grade_name(grading_key: str) -> str:
    return f"grade.{grading_key[:8]}.json"


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

    @property
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

    def eval_folder(self, eval_id: str) -> Path:
        return self.folder / "evals" / eval_id

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

    def grade(self, eval_id: str) -> GradeFile:
        """The verdicts that count: those that the summary names, else those under the plan's own key."""
        summary = self.summary()
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


@dataclass(frozen=True)
class RunStore:
    """All runs below one folder."""

    root: Path

    def opened(self, model: str, day: str, run_id: str) -> Run | None:
        """The run of exactly this name, None where there is none."""
        folder = self._folder(model, day, run_id)
        return open_run(folder) if confined.is_file(folder / PLAN_NAME, self.root) else None

    def _folder(self, model: str, day: str, run_id: str) -> Path:
        return self.root.joinpath(*slug_folders(model), day, run_id)

    def create(self, plan: RunPlan) -> Run:
        run = Run(self._folder(plan.model, plan.date, plan.run_id), plan)
        write_record(run.folder / PLAN_NAME, plan, self.root)
        return run

    def all(self) -> Iterator[Run]:
        """Newest first: by day, then by the time that the file system remembers."""
        return (open_run(folder) for folder in self._folders())

    def readable(self, slug: str | None = None) -> tuple[list[tuple[Run, Summary | None]], list[str]]:
        """All runs (of one model) with their summaries, newest first, and why others are left out: those of a newer
        format, and those whose summary their figures contradict.
        """
        found, left_out = [], []
        for folder in self._folders(*(slug_folders(slug) if slug else ())):
            try:
                run = open_run(folder)
                found.append((run, run.summary()))
            except (NewerFormat, WrongFigures) as error:
                left_out.append(str(error))
        return found, left_out

    def folders(self) -> list[Path]:
        """Of all runs, newest first, nothing of them read."""
        return self._folders()

    def models(self) -> list[str]:
        """The slugs that have runs here which can be read, in alphabetical order."""
        found: dict[Path, str] = {}
        for folder in reversed(self._folders()):
            if folder.parents[1] not in found:
                with suppress(NewerFormat):
                    found[folder.parents[1]] = open_run(folder).plan.model
        return sorted(set(found.values()))

    def _folders(self, *known: str) -> list[Path]:
        """Of the runs below `known` (provider, then model), newest first."""
        runs = [f for f in self._below(*known) if confined.is_file(f / PLAN_NAME, self.root)]
        return sorted(runs, key=self._newest, reverse=True)

    def validations(self, slug: str | None = None) -> list[Path]:
        """The folders of all validations, or of those of one model. Their runs are not among the runs here."""
        known = () if slug is None else slug_folders(slug)
        return [folder for folder in self._below(*known) if folder.name.startswith(VALIDATION)]

    def _below(self, *known: str) -> list[Path]:
        """All that stands where runs do."""
        found = [self.root.joinpath(*known)]
        for _ in range(4 - len(known)):
            found = [f / n for f in found for n, kind in confined.entries(f, self.root).items() if kind == "folder"]
            if len(found) > MOST_ENTRIES:
                raise UserError(f"{self.root}: more than {MOST_ENTRIES:,} folders; move some of them away")
        return found

    def _newest(self, folder: Path) -> tuple[str, float]:
        return folder.parts[-2], confined.modified(folder / PLAN_NAME, self.root)

    def same_work(self, plan: RunPlan) -> list[Run]:
        """Runs that planned exactly what `plan` does, newest first."""
        wanted = plan.fingerprint_inputs()
        return [run for run in self.of_model(plan.model) if run.plan.fingerprint_inputs() == wanted]

    def given(self, digests: Collection[str]) -> list[Run]:
        """The runs that were given guidelines of one of these hashes, newest first."""
        return [run for run in self._mentioning(digests) if run.plan.guidelines_sha256 in digests]

    def under(self, experiment: str) -> list[Run]:
        """The runs of one experiment, newest first."""
        return [run for run in self._mentioning([f'"{experiment}"']) if run.plan.experiment == experiment]

    def _mentioning(self, words: Iterable[str]) -> Iterator[Run]:
        """The runs whose plan has one of these words, newest first; the others are not parsed, which takes longer."""
        wanted = [word.encode() for word in words]
        for folder in self._folders():
            data = confined.read_bytes(folder / PLAN_NAME, self.root, MOST_TEXT) or b""
            if any(word in data for word in wanted):
                yield open_run(folder)

    def of_model(self, slug: str) -> list[Run]:
        """The runs of one model, newest first."""
        return [open_run(folder) for folder in self._folders(*slug_folders(slug))]

    def find_all(self, names: Sequence[str]) -> list[Run]:
        """The runs of these names: as `find`, or a model's slug for all of its runs. Raises `UserError`."""
        found = [run for name in names for run in ("/" in name and self.of_model(name)) or [self.find(name)]]
        return list({run.folder: run for run in found}.values())

    def no_runs(self) -> UserError:
        return UserError(f"{self.root}: no runs here yet; `cli run --model reference` makes one")

    def find(self, name: str) -> Run:
        """The run with this id (or the beginning of it), folder, or `last`. Raises `UserError`."""
        as_path = Path(name)
        if "\0" not in name and (as_path / PLAN_NAME).is_file():
            return open_run(as_path)
        folders = self._folders()
        if not folders:
            raise self.no_runs()
        if name == "last":
            return open_run(folders[0])
        name = name.replace(JOINER, "")  # copied from Markdown
        found = [f for f in folders if f.name == name] or [f for f in folders if f.name.startswith(name)]
        if len(found) == 1:
            return open_run(found[0])
        if not found:
            raise UserError(f"{name}: no such run in {self.root}; `cli list` shows them, `last` is the newest")
        raise UserError(f"{name}: {len(found)} runs begin with that: {', '.join(f.name for f in found[:5])}")
