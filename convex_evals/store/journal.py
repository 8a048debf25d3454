"""The journal of a running run: a file per trial, so that `kill -9` loses at most what was under way."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from convex_evals.errors import UserError
from convex_evals.records import RunPlan
from convex_evals.records.journal import JournalEntry
from convex_evals.store.files import write_error
from convex_evals.store.paths import slug_folders
from convex_evals.store.records import read_record, write_record
from convex_evals.store.replies import ReplyFile


class Journal:
    """Entries of one run under `root`/<run>/<category>/<name>/<trial>.json."""

    def __init__(self, root: Path, plan: RunPlan, *, purpose: str = "") -> None:
        # Several models may have a run of the same id and day.
        name = "+".join((*slug_folders(plan.model), plan.date, plan.run_id + purpose))
        self.folder = root / name
        self._run_id = plan.run_id
        self._lock = root / f"{name}.lock"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from the same run. Raises `UserError` where one is at it."""
        lock = FileLock(self._lock)
        try:
            self._lock.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout:
            raise UserError(
                f"run {self._run_id} is under way in another process; wait for it, "
                "or start another with `cli run --fresh`"
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

    def reply_log(self, eval_id: str, trial: int, generation_key: str) -> ReplyFile:
        """Where a reply to what this key stands for is kept while it arrives."""
        return ReplyFile(self.folder / eval_id / f"{trial}.{generation_key[:8]}.reply.jsonl")

    def hand_over(self, eval_id: str, trial: int, generation_key: str, to: Journal, *, with_verdict: bool) -> bool:
        """Move the reply to a trial to another journal; whether there is one, and no process is at this run."""
        log = self.reply_log(eval_id, trial, generation_key)
        path = self._path(eval_id, trial)
        if to.folder == self.folder or not (path.is_file() or log.is_whole()) or self.is_busy():
            return False
        with self.locked():
            entry = self.read(eval_id, trial)
            if entry is not None and entry.generation.received and entry.generation_key == generation_key:
                own = {} if with_verdict else {"verdict": None, "attempts": 0}
                to.write(eval_id, entry.model_copy(update=own))
                path.unlink()
                return True
            if log.is_whole():
                log.move(to.reply_log(eval_id, trial, generation_key))
                return True
        return False

    def has_reply(self, eval_id: str, trial: int, generation_key: str) -> bool:
        """Whether a whole reply to what this key stands for is here."""
        entry = self.read(eval_id, trial)
        own = entry is not None and entry.generation_key == generation_key and entry.generation.received
        return own or self.reply_log(eval_id, trial, generation_key).is_whole()

    def drop(self) -> None:
        """Forget the run: everything of it is written."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._lock.unlink(missing_ok=True)

    def _path(self, eval_id: str, trial: int) -> Path:
        return self.folder / eval_id / f"{trial}.json"
