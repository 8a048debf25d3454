"""The journal of a running run: a file per trial, so that `kill -9` loses at most what was under way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from convex_evals.config import JOURNAL
from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.records import RunPlan
from convex_evals.records.journal import JournalEntry
from convex_evals.store.files import write_error
from convex_evals.store.paths import slug_folders
from convex_evals.store.records import find_record, write_record
from convex_evals.store.replies import ReplyFile
from convex_evals.store.run import Run


class Journal:
    """Entries of one run under `root`/<run>/<category>/<name>/<trial>.json."""

    def __init__(self, root: Path, plan: RunPlan, *, purpose: str = "") -> None:
        # Several models may have a run of the same id and day.
        name = "+".join((*slug_folders(plan.model), plan.date, plan.run_id + purpose))
        self.folder = root / name
        # A checkout may bring its own `.cache`: nothing from there on is reached through a link.
        self._base = root.parents[2] if root.parts[-3:] == JOURNAL.parts else root
        self._run_id = plan.run_id
        self._lock = root / f"{name}.lock"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from the same run. Raises `UserError` where one is at it."""
        lock = FileLock(self._lock)
        try:
            confined.make_folder(self._lock.parent, self._base)
            confined.refuse_link(self._lock, self._base)
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
        """Whether a process is at the run. Changes no file, and none of its times."""
        if not confined.is_file(self._lock, self._base):
            return False
        try:
            import fcntl
        except ImportError:
            return self._is_busy_elsewhere()
        with self._lock.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def _is_busy_elsewhere(self) -> bool:
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
            entry = find_record(path, JournalEntry, self._base)
            if entry is not None and entry.generation.trial != trial:
                raise UserError(f"{path}: is about trial {entry.generation.trial}")
            return entry
        except UserError as error:
            what = str(error).partition("; restore ")[0]
            raise UserError(f"{what}; without the file the trial is asked again") from None

    def of_unwritten(self, run: Run) -> dict[str, list[JournalEntry]]:
        """Read the trials, in order, of each eval of `run` that is not written and has some here."""
        trials = range(1, run.plan.trials + 1)
        waiting = [e for e in run.plan.evals if not run.is_written(e)]
        found = {e: [entry for n in trials if (entry := self.read(e, n))] for e in waiting}
        return {e: entries for e, entries in found.items() if entries}

    def write(self, eval_id: str, entry: JournalEntry) -> None:
        write_record(self._path(eval_id, entry.generation.trial), entry, self._base)

    def reply_log(self, eval_id: str, trial: int, generation_key: str) -> ReplyFile:
        """Where a reply to what this key stands for is kept while it arrives."""
        return ReplyFile(self.folder / eval_id / f"{trial}.{generation_key[:8]}.reply.jsonl", self._base)

    def hand_over(self, eval_id: str, trial: int, generation_key: str, to: Journal, *, with_verdict: bool) -> bool:
        """Move the reply to a trial to another journal; whether there is one, and no process is at this run."""
        log = self.reply_log(eval_id, trial, generation_key)
        path = self._path(eval_id, trial)
        if to.folder == self.folder or not (confined.is_file(path, self._base) or log.is_whole()) or self.is_busy():
            return False
        with self.locked():
            entry = self.read(eval_id, trial)
            if entry is not None and entry.generation.received and entry.generation_key == generation_key:
                own = {} if with_verdict else {"verdict": None, "commands": 0}
                to.write(eval_id, entry.model_copy(update=own))
                confined.remove_file(path, self._base)
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
        confined.remove_tree(self.folder, self._base)
        confined.remove_file(self._lock, self._base)

    def _path(self, eval_id: str, trial: int) -> Path:
        return self.folder / eval_id / f"{trial}.json"
