"""The batches of a run, in its folder: `batches/<token>.json`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records.batch import BatchedRequest, BatchFile
from convex_evals.store.records import read_record, write_record
from convex_evals.store.run import Run

_FOLDER = "batches"
_SUFFIX = ".json"
_Trial = tuple[str, int, str]  # eval, trial, generation key


@dataclass(frozen=True)
class Ticket:
    """A trial's request in a batch."""

    file: BatchFile
    number: int  # among the requests of the batch, from 0

    @property
    def request(self) -> BatchedRequest:
        return self.file.requests[self.number]

    @property
    def custom_id(self) -> str:
        return self.file.custom_id(self.number)


@dataclass
class BatchFolder:
    """What one run has submitted. One process at a time writes to it: who holds the run's journal."""

    run: Run
    _files: dict[str, BatchFile] | None = field(default=None, repr=False)
    _newest: dict[_Trial, Ticket] | None = field(default=None, repr=False)

    def files(self) -> list[BatchFile]:
        """List the batches, the newest first. Raises `UserError` for one that cannot be read."""
        return sorted(self._by_token().values(), key=lambda file: file.submitted_at, reverse=True)

    def pending(self) -> int:
        """Return how many trials, of evals that are not written, have a request in a batch."""
        trials = {(r.eval, r.trial) for file in self.files() for r in file.requests}
        return sum(not self.run.is_written(eval_id) for eval_id, _ in trials)

    def find(self, eval_id: str, trial: int, generation_key: str, used: Collection[str] = ()) -> Ticket | None:
        """Return the newest request for a trial, unless it is in a batch `used` before: what came of it is known."""
        if self._newest is None:
            self._newest = _newest_of(self.files())
        found = self._newest.get((eval_id, trial, generation_key))
        return None if found is None or found.file.token in used else found

    def write(self, file: BatchFile) -> None:
        """Raises `UserError`."""
        files = self._by_token()
        write_record(self.path(file.token), file, self.run.root)
        files[file.token] = file
        self._newest = None

    def remove(self, token: str) -> None:
        """Drop the file of a batch that the provider does not have."""
        files = self._by_token()
        confined.remove_file(self.path(token), self.run.root)
        files.pop(token, None)
        self._newest = None

    def path(self, token: str) -> Path:
        return self.run.folder / _FOLDER / f"{token}{_SUFFIX}"

    def take_in(self, others: Iterable[BatchFile]) -> int:
        """Write those of `others` that are not here, and return how many. Raises `UserError` for another run's."""
        taken = 0
        for file in others:
            here = self._by_token().get(file.token)
            if file.model != self.run.plan.model or not all(map(self._is_planned, file.requests)):
                raise UserError(
                    f"batch {file.token}: asks for other things than {self.run.folder} planned; leave it out"
                )
            if here is None or (here.batch is None and file.batch is not None and here.requests == file.requests):
                self.write(file)
                taken += 1
        return taken

    def _by_token(self) -> dict[str, BatchFile]:
        if self._files is None:
            names = confined.entries(self.run.folder / _FOLDER, self.run.root)
            found = [self._read(name) for name, kind in names.items() if kind == "file" and name.endswith(_SUFFIX)]
            self._files = {file.token: file for file in found}
        return self._files

    def _is_planned(self, request: BatchedRequest) -> bool:
        planned = self.run.plan.evals.get(request.eval)
        return (
            planned is not None
            and planned.generation_key == request.generation_key
            and request.trial <= self.run.plan.trials
        )

    def _read(self, name: str) -> BatchFile:
        path = self.run.folder / _FOLDER / name
        file = read_record(path, BatchFile, self.run.root)
        if path.name != f"{file.token}{_SUFFIX}" or file.model != self.run.plan.model:
            raise UserError(f"{path}: is another batch, of {file.model}; restore it from Git")
        return file


def has_batches(folder: Path, root: Path) -> bool:
    """Whether the run in `folder` has any, told without reading it."""
    return confined.kind_of(folder / _FOLDER, root) == "folder"


def _newest_of(files: Sequence[BatchFile]) -> dict[_Trial, Ticket]:
    """Return the last request for each trial; `files` are the newest first.

    What a request names among its attempts was before it, whatever the clocks of two machines say.
    """
    found: dict[_Trial, Ticket] = {}
    for file in reversed(files):
        for number, request in enumerate(file.requests):
            trial = (request.eval, request.trial, request.generation_key)
            before = found.get(trial)
            if before is None or file.token not in {a.batch for a in before.request.attempts}:
                found[trial] = Ticket(file, number)
    return found
