"""Runs on disk: `<runs>/<provider>/<model>/<date>/<run id>/`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.records import Generation, GenerationFile, GradeFile, Pruned, RunPlan, Summary
from convex_evals.store.files import write_atomic
from convex_evals.store.paths import slug_folders
from convex_evals.store.records import read_data, read_record, write_record
from convex_evals.text import read_text

PLAN_NAME = "run.json"
SUMMARY_NAME = "summary.json"
GENERATION_NAME = "generation.json"
PRUNED_NAME = "pruned.json"
# How runs are named that confirm what others showed: of evals that chance chose, and of no others.
CONFIRMATION = "confirm-"


def _newest(plan: Path) -> tuple[str, float]:
    return plan.parts[-3], plan.stat().st_mtime


def _run(plan: Path) -> Run:
    return Run(plan.parent, read_record(plan, RunPlan))


def grade_name(grading_key: str) -> str:
    return f"grade.{grading_key[:8]}.json"


@lru_cache
def _day_of(model_folder: Path, run_id: str) -> str | None:
    return next((day.name for day in sorted(model_folder.iterdir()) if (day / run_id / PLAN_NAME).is_file()), None)


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

    def summary(self) -> Summary | None:
        """None where none is written yet; it names evals in `missing` where the run was finished without them."""
        path = self.folder / SUMMARY_NAME
        return read_record(path, Summary) if path.is_file() else None

    def eval_folder(self, eval_id: str) -> Path:
        return self.folder / "evals" / eval_id

    def is_written(self, eval_id: str) -> bool:
        """Whether this eval's trials are done. Its grade file is written last."""
        return (self.eval_folder(eval_id) / grade_name(self.plan.evals[eval_id].grading_key)).is_file()

    def has_generation(self, eval_id: str) -> bool:
        return (self.eval_folder(eval_id) / GENERATION_NAME).is_file()

    def generation(self, eval_id: str) -> GenerationFile:
        return read_record(self.eval_folder(eval_id) / GENERATION_NAME, GenerationFile)

    def asked_on(self, generation: Generation) -> str | None:
        """The day on which the run began that asked for this reply; None where that run is no longer here."""
        if generation.reused_from is None:
            return self.plan.date
        return _day_of(self.folder.parent.parent, generation.reused_from)

    def grade(self, eval_id: str) -> GradeFile:
        """The verdicts that count: those that the summary names, else those under the plan's own key."""
        summary = self.summary()
        named = summary.evals.get(eval_id) if summary else None
        name = named.grade if named else grade_name(self.plan.evals[eval_id].grading_key)
        return self.grade_file(eval_id, name)

    def grade_file(self, eval_id: str, name: str) -> GradeFile:
        return read_record(self.eval_folder(eval_id) / name, GradeFile)

    def grade_names(self, eval_id: str) -> list[str]:
        """The grade files of an eval, of the first grading and of later ones."""
        return sorted(path.name for path in self.eval_folder(eval_id).glob(grade_name("?" * 8)))

    def has_grade(self, eval_id: str, grading_key: str) -> bool:
        return (self.eval_folder(eval_id) / grade_name(grading_key)).is_file()

    @property
    def pruned(self) -> Pruned | None:
        """What was dropped of it on request; None where nothing was."""
        path = self.folder / PRUNED_NAME
        return read_record(path, Pruned) if path.is_file() else None

    def response(self, eval_id: str, trial: int) -> str | None:
        """The raw reply to a trial; None where none was received.

        Raises `UserError` where it was received, and is no longer here.
        """
        path = self.eval_folder(eval_id) / f"{trial}.md"
        if path.is_file():
            return read_text(path)
        if any(g.trial == trial and g.received for g in self.generation(eval_id).trials):
            why = "responses were pruned" if self.pruned else "the reply is missing; restore it from Git"
            raise UserError(f"{path}: {why}")
        return None

    def prune(self, day: str) -> int:
        """Drop the raw replies, marked first, so that a reader never wonders; the bytes that were freed."""
        replies = self.replies()
        size = sum(path.stat().st_size for path in replies)
        write_record(self.folder / PRUNED_NAME, Pruned(date=day, responses=len(replies), bytes=size))
        for path in replies:
            path.unlink()
        return size

    def replies(self) -> list[Path]:
        """The files with raw replies."""
        return sorted((self.folder / "evals").glob("*/*/*.md"))

    def write_eval(self, generation: GenerationFile, responses: Mapping[int, str], grade: GradeFile) -> None:
        """All files of one eval, the grade last: where it is, the others are."""
        folder = self.eval_folder(generation.eval)
        for trial, response in responses.items():
            write_atomic(folder / f"{trial}.md", response)
        write_record(folder / GENERATION_NAME, generation)
        write_record(folder / grade_name(grade.grading_key), grade)

    def write_grade(self, grade: GradeFile) -> None:
        """Another grade file of an eval whose other files are there."""
        write_record(self.eval_folder(grade.eval) / grade_name(grade.grading_key), grade)

    def write_summary(self, summary: Summary) -> None:
        write_record(self.folder / SUMMARY_NAME, summary)


@dataclass(frozen=True)
class RunStore:
    """All runs below one folder."""

    root: Path

    def opened(self, model: str, day: str, run_id: str) -> Run | None:
        """The run of exactly this name, None where there is none."""
        folder = self._folder(model, day, run_id)
        path = folder / PLAN_NAME
        return Run(folder, read_record(path, RunPlan)) if path.is_file() else None

    def _folder(self, model: str, day: str, run_id: str) -> Path:
        return self.root.joinpath(*slug_folders(model), day, run_id)

    def create(self, plan: RunPlan) -> Run:
        run = Run(self._folder(plan.model, plan.date, plan.run_id), plan)
        write_record(run.folder / PLAN_NAME, plan)
        return run

    def all(self) -> Iterator[Run]:
        """Newest first: by day, then by the time that the file system remembers."""
        return (_run(path) for path in self._plans())

    def folders(self) -> list[Path]:
        """Of all runs, newest first, nothing of them read."""
        return [path.parent for path in self._plans()]

    def models(self) -> list[str]:
        """The slugs that have runs here, in alphabetical order."""
        plans = {path.parents[2]: path for path in self._plans()}
        return sorted({read_data(path, RunPlan).get("model", "") for path in plans.values()})

    def _plans(self) -> list[Path]:
        return sorted(self.root.glob(f"*/*/*/*/{PLAN_NAME}"), key=_newest, reverse=True)

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
        plans = []
        for path in self.root.glob(f"*/*/*/*/{PLAN_NAME}"):
            data = path.read_bytes()
            if any(word in data for word in wanted):
                plans.append(path)
        return map(_run, sorted(plans, key=_newest, reverse=True))

    def of_model(self, slug: str) -> list[Run]:
        """The runs of one model, newest first."""
        folder = self.root.joinpath(*slug_folders(slug))
        paths = sorted(folder.glob(f"*/*/{PLAN_NAME}"), key=_newest, reverse=True)
        return [_run(path) for path in paths]

    def find_all(self, names: Sequence[str]) -> list[Run]:
        """The runs of these names: as `find`, or a model's slug for all of its runs. Raises `UserError`."""
        found = [run for name in names for run in ("/" in name and self.of_model(name)) or [self.find(name)]]
        return list({run.folder: run for run in found}.values())

    def find(self, name: str) -> Run:
        """The run with this id (or the beginning of it), folder, or `last`. Raises `UserError`."""
        as_path = Path(name)
        if (as_path / PLAN_NAME).is_file():
            return _run(as_path.absolute() / PLAN_NAME)
        plans = self._plans()
        if not plans:
            raise UserError(f"{self.root}: no runs here yet; `cli run --model reference` makes one")
        if name == "last":
            return _run(plans[0])
        found = [p for p in plans if p.parent.name == name] or [p for p in plans if p.parent.name.startswith(name)]
        if len(found) == 1:
            return _run(found[0])
        if not found:
            raise UserError(f"{name}: no such run in {self.root}; `cli list` shows them, `last` is the newest")
        raise UserError(f"{name}: {len(found)} runs begin like that: {', '.join(p.parent.name for p in found[:5])}")
