"""All runs on disk: `<runs>/<provider>/<model>/<date>/<run id>/`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.config import SESSION_RUNS
from convex_evals.errors import NewerFormat, UserError, WrongFigures
from convex_evals.inputs import confined
from convex_evals.inputs.confined import MOST_ENTRIES
from convex_evals.records import RunPlan, Summary
from convex_evals.store.files import MOST_TEXT
from convex_evals.store.paths import VALIDATION, slug_folders
from convex_evals.store.records import write_record
from convex_evals.store.run import PLAN_NAME, Run, open_run
from convex_evals.text import JOINER

# A key of the plan itself: strings of JSON hold no line breaks, and what is nested is indented further.
_PLANNED_AT = re.compile(rb'^  "planned_at": (?:null|"([0-9T:.+-]{1,40})")', re.MULTILINE)
_LATEST = "~"


@dataclass(frozen=True)
class RunStore:
    """All runs below one folder."""

    root: Path
    # Why runs are left out that cannot be read, a line each; None: one that cannot be read stops everything.
    left_out: list[str] | None = field(default=None, compare=False)

    def leave_out(self, error: UserError) -> None:
        """Note why a run cannot be read. Raises `error` where such a run is to stop everything."""
        if self.left_out is None:
            raise error
        if str(error) not in self.left_out:
            self.left_out.append(str(error))

    def with_summaries(self, runs: Iterable[Run]) -> Iterator[tuple[Run, Summary | None]]:
        """Each run with its summary, None where it is not complete."""
        for run in runs:
            try:
                yield run, run.summary()
            except UserError as error:
                self.leave_out(error)

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
        """Newest first: by day, then by the time of planning, then by name."""
        return self._opened(self._folders())

    def readable(self, slug: str | None = None) -> list[tuple[Run, Summary | None]]:
        """All runs (of one model) with their summaries, newest first.

        Those of a newer format, and those whose summary their figures contradict, never stop the others.
        """
        found = []
        for folder in self._folders(*(slug_folders(slug) if slug else ())):
            try:
                run = open_run(folder)
                found.append((run, run.summary()))
            except UserError as error:
                if self.left_out is not None or not isinstance(error, NewerFormat | WrongFigures):
                    self.leave_out(error)
        return found

    def _opened(self, folders: Iterable[Path]) -> Iterator[Run]:
        for folder in folders:
            try:
                yield open_run(folder)
            except UserError as error:
                self.leave_out(error)

    def folders(self) -> list[Path]:
        """Of all runs, newest first, nothing of them read."""
        return self._folders()

    def models(self) -> list[str]:
        """The slugs that have runs here which can be read, in alphabetical order."""
        found: dict[Path, str] = {}
        for folder in reversed(self._folders()):
            if folder.parents[1] not in found:
                try:
                    found[folder.parents[1]] = open_run(folder).plan.model
                except UserError as error:
                    if self.left_out is not None or not isinstance(error, NewerFormat):
                        self.leave_out(error)
        return sorted(set(found.values()))

    def _folders(self, *known: str) -> list[Path]:
        """Of the runs below `known` (provider, then model), newest first."""
        by_day: dict[str, list[Path]] = {}
        for folder in self._below(*known):
            if confined.is_file(folder / PLAN_NAME, self.root):
                by_day.setdefault(folder.parts[-2], []).append(folder)
        return [folder for day in sorted(by_day, reverse=True) for folder in self._latest_first(by_day[day])]

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

    def _latest_first(self, folders: list[Path]) -> list[Path]:
        """Runs of one day."""
        return sorted(folders, key=lambda f: (self._planned_at(f), f.parts), reverse=True) if folders[1:] else folders

    def _planned_at(self, folder: Path) -> str:
        """When a run was planned, without parsing its plan, which takes longer.

        A plan that cannot be read sorts as the latest: what looks for the newest run has to come upon it.
        """
        found = _PLANNED_AT.search(confined.read_bytes(folder / PLAN_NAME, self.root, MOST_TEXT) or b"")
        return (found[1] or b"").decode() if found else _LATEST

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
                yield from self._opened([folder])

    def of_model(self, slug: str) -> list[Run]:
        """The runs of one model, newest first."""
        return list(self._opened(self._folders(*slug_folders(slug))))

    def find_all(self, names: Sequence[str]) -> list[Run]:
        """The runs of these names: as `find`, or a model's slug for all of its runs. Raises `UserError`."""
        found = [run for name in names for run in ("/" in name and self.of_model(name)) or [self.find(name)]]
        return list({run.folder: run for run in found}.values())

    def _of_sessions(self) -> list[Path]:
        """The folders of the runs of sessions, which stand beside those of evals."""
        return RunStore(self.root.parent / SESSION_RUNS).folders() if self.root.name != SESSION_RUNS else []

    def no_runs(self) -> UserError:
        return UserError(f"{self.root}: no runs here yet; `cli run --model reference` makes one")

    def find(self, name: str) -> Run:
        """The run with this id (or the beginning of it), folder, or `last`. Raises `UserError`."""
        as_path = Path(name)
        if "\0" not in name and (as_path / PLAN_NAME).is_file():
            return open_run(as_path)
        folders = self._folders()
        if name == "last" and folders:
            return open_run(folders[0])
        name = name.replace(JOINER, "")  # copied from Markdown
        found = _named(name, folders) or _named(name, self._of_sessions())
        if not (found or folders):
            raise self.no_runs()
        if len(found) == 1:
            return open_run(found[0])
        if not found:
            raise UserError(f"{name}: no such run in {self.root}; `cli list` shows them, `last` is the newest")
        raise UserError(f"{name}: {len(found)} runs begin with that: {', '.join(f.name for f in found[:5])}")


def _named(name: str, folders: Sequence[Path]) -> list[Path]:
    return [f for f in folders if f.name == name] or [f for f in folders if f.name.startswith(name)]
