"""The journal of a running run: a file per trial, so that `kill -9` loses at most what was under way."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from convex_evals.errors import UserError
from convex_evals.records.journal import JournalEntry
from convex_evals.store.files import write_error
from convex_evals.store.records import read_record, write_record
from convex_evals.store.replies import ReplyFile


class Journal:
    """Entries of one run under `root`/<run id>/<category>/<name>/<trial>.json."""

    def __init__(self, root: Path, run_id: str) -> None:
        self.folder = root / run_id
        self._lock = root / f"{run_id}.lock"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from the same run. Raises `UserError` where one is at it."""
        lock = FileLock(self._lock)
        try:
            self._lock.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout:
            name = self.folder.name
            raise UserError(
                f"run {name} is under way in another process; wait for it, or start another with `cli run --fresh`"
            ) from None
        except OSError as error:
            raise write_error(self.folder, error) from error
        try:
            yield
        finally:
            lock.release()

    def is_busy(self) -> bool:
        """Whether a process is at the run. Makes no file."""
        if not self._lock.is_file():
            return False
        try:
            with FileLock(self._lock, blocking=False):
                return False
        except Timeout:
            return True
        except OSError:
            return False

    def read(self, eval_id: str, trial: int) -> JournalEntry | None:
        path = self._path(eval_id, trial)
        try:
            return read_record(path, JournalEntry) if path.is_file() else None
        except UserError as error:
            what = str(error).partition("; restore ")[0]
            raise UserError(f"{what}; without the file the trial is asked again") from None

    def write(self, eval_id: str, entry: JournalEntry) -> None:
        write_record(self._path(eval_id, entry.generation.trial), entry)

    def reply_log(self, eval_id: str, trial: int) -> ReplyFile:
        """Where a reply is kept while it arrives."""
        return ReplyFile(self.folder / eval_id / f"{trial}.reply.jsonl")

    def drop(self) -> None:
        """Forget the run: everything of it is written."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.unlink(missing_ok=True)

    def _path(self, eval_id: str, trial: int) -> Path:
        return self.folder / eval_id / f"{trial}.json"
