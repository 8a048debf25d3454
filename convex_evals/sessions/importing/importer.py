"""`cli sessions import`: from the files of agents to `sessions/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from convex_evals.errors import UserError
from convex_evals.records.session import Session
from convex_evals.sessions.conversation import Conversation, Problems
from convex_evals.sessions.importing.build import build, ended_at, shown_folder, source_hash
from convex_evals.sessions.importing.choice import FoundFile
from convex_evals.sessions.importing.redacted import redact
from convex_evals.sessions.message import ASSISTANT, USER
from convex_evals.sessions.store import SessionStore

Progress = Callable[[int, int], None]  # files done, of how many
_A_DAY = timedelta(days=1)  # that time zones and clocks may differ by


class ImportOutcome(StrEnum):
    """What an import did with a conversation."""

    NEW = "new"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    EMPTY = "empty"  # nobody said anything
    LEFT_OUT = "left_out"  # by --since or --project
    FAILED = "failed"


@dataclass(frozen=True)
class Imported:
    """One conversation."""

    outcome: ImportOutcome
    file: Path
    session: Session | None = None  # that was written, or would be


@dataclass(frozen=True)
class Import:
    """An import into `store`, of the user whose home folder is `home`."""

    store: SessionStore
    home: Path
    problems: Problems
    since: str | None = None  # day, UTC: only conversations that went on then or later
    project: str | None = None  # pattern of the folder that the agent worked in
    keep_secrets: bool = False
    dry: bool = False  # write nothing
    again: bool = False  # also what has not changed
    failed_files: list[Path] = field(default_factory=list)

    def files(self, files: Iterable[FoundFile], progress: Progress = lambda *_: None) -> Iterator[Imported]:
        """What becomes of each conversation in `files`, which are read one after another."""
        left = [each for each in files if not self._is_too_old(each.file)]
        for done, each in enumerate(left):
            progress(done, len(left))
            yield from self._file(each)
        progress(len(left), len(left))

    def _file(self, chosen: FoundFile) -> Iterator[Imported]:
        try:
            for found in chosen.reader.read(chosen.file, self.problems):
                yield self._conversation(chosen.file, found)
        except OSError as error:
            self._fail(chosen.file, f"cannot be read: {error.strerror}; left out")
        except Exception as error:
            # One file that a reader is not made for must not keep all others from being imported.
            what = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
            self._fail(chosen.file, f"the reader of {chosen.reader.name} failed ({what}); left out, please report it")

    def _fail(self, file: Path, what: str) -> None:
        self.failed_files.append(file)
        self.problems(f"{file}: {what}")

    def _conversation(self, file: Path, found: Conversation) -> Imported:
        if not any(each.role in (USER, ASSISTANT) for each in found.messages):
            return Imported(ImportOutcome.EMPTY, file)
        if not self._is_wanted(found):
            return Imported(ImportOutcome.LEFT_OUT, file)
        try:
            return self._wanted(file, found)
        except (UserError, ValidationError) as error:
            what = error if isinstance(error, UserError) else f"{_fault(error)}; left out, please report it"
            self._fail(file, f"session {found.session_id}: {what}")
            return Imported(ImportOutcome.FAILED, file)

    def _wanted(self, file: Path, found: Conversation) -> Imported:
        known = self.store.find(found.session_id)
        if known is not None and not self.again and self._is_current(known, found):
            return Imported(ImportOutcome.UNCHANGED, file, known)
        shown = replace(found, folder=shown_folder(found.folder, self.store.root, self.home))
        redacted = redact(shown, self.home, keep=self.keep_secrets)
        revision = 1 if known is None else known.revision + (known.source_sha256 != source_hash(found))
        built = build(found, redacted, revision=revision, secrets_kept=self.keep_secrets)
        if not self.dry:
            trajectory = built.trajectory(redacted.conversation.messages)
            self.store.write(built.session, built.messages, built.raw, trajectory)
        return Imported(ImportOutcome.NEW if known is None else ImportOutcome.UPDATED, file, built.session)

    def _is_current(self, known: Session, found: Conversation) -> bool:
        return (
            known.source_sha256 == source_hash(found)
            and known.secrets_kept == self.keep_secrets
            and self.store.is_complete(known)
        )

    def _is_wanted(self, found: Conversation) -> bool:
        end = ended_at(found)
        if self.since is not None and end is not None and end < self.since:
            return False
        return self.project is None or self._is_of_project(found.folder, self.project)

    def _is_of_project(self, folder: str | None, pattern: str) -> bool:
        if folder is None:
            return False
        names = (folder, PurePosixPath(folder).name, shown_folder(folder, self.store.root, self.home) or "")
        return any(fnmatchcase(name, pattern) for name in names)

    def _is_too_old(self, file: Path) -> bool:
        """Whether the file was written before anything that is wanted could be in it."""
        if self.since is None:
            return False
        try:
            changed = datetime.fromtimestamp(file.stat().st_mtime, UTC)
        except OSError:
            return False  # reading it will say why
        return changed + _A_DAY < datetime.fromisoformat(self.since).replace(tzinfo=UTC)


def _fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
