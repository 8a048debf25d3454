"""`sessions/` on disk: `<xx>/<id>/` with session.json, messages.jsonl, raw.jsonl and trajectory.json.

Only an import writes here. session.json is written last and names the hashes of the others: where they differ, an
import was interrupted, and the next one writes the session again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.inputs import confined
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.records.hashes import sha256_text
from convex_evals.records.session import Session
from convex_evals.sessions.message import Message
from convex_evals.store.files import write_atomic
from convex_evals.store.records import find_record, write_record

SESSIONS, LABELS = "sessions", "labels"
RECORD, MESSAGES, RAW, TRAJECTORY = "session.json", "messages.jsonl", "raw.jsonl", "trajectory.json"
_MOST_BYTES = 1024 * 1024 * 1024
_LINE = Limits(size=64 * 1024 * 1024, values=1_000_000, depth=256)
_PREFIX = re.compile(r"[0-9a-f]{4,20}")
_ADVICE = "restore it from Git, or import the session again"


@dataclass(frozen=True)
class SessionStore:
    """Sessions and labels below the folder `root`."""

    root: Path

    def folder(self, session_id: str) -> Path:
        return self.root / SESSIONS / session_id[:2] / session_id

    def label_path(self, session_id: str) -> Path:
        return self.root / LABELS / session_id[:2] / f"{session_id}.yaml"

    def ids(self) -> list[str]:
        """Of all sessions, sorted."""
        top = self.root / SESSIONS
        groups = [name for name, kind in confined.entries(top, self.root).items() if kind == "folder"]
        return [
            name
            for group in groups
            for name, kind in confined.entries(top / group, self.root).items()
            if kind == "folder" and name.startswith(group) and len(name) == 20
        ]

    def find(self, session_id: str) -> Session | None:
        """Raises `UserError` where the record is not well formed."""
        session = find_record(self.folder(session_id) / RECORD, Session, self.root)
        if session is not None and session.id != session_id:
            raise UserError(f"{self.folder(session_id) / RECORD}: is of session {session.id}; {_ADVICE}")
        return session

    def read(self, session_id: str) -> Session:
        session = self.find(session_id)
        if session is None:
            raise UserError(f"{self.folder(session_id) / RECORD}: no such file; {_ADVICE}")
        return session

    def resolve(self, prefix: str) -> str:
        """The one session whose id begins so. Raises `UserError`."""
        if not _PREFIX.fullmatch(prefix):
            raise UserError(
                f"'{prefix[:60]}' is not the id of a session, 4 to 20 hexadecimal digits; `cli sessions list`"
            )
        folder = self.root / SESSIONS / prefix[:2]
        found = [name for name in confined.entries(folder, self.root) if name.startswith(prefix)]
        if not found:
            raise UserError(f"no session {prefix}; `cli sessions list` lists them")
        if len(found) > 1:
            raise UserError(f"{prefix}: more than one session begins so: {', '.join(found[:5])}; give more digits")
        return found[0]

    def messages(self, session_id: str) -> Iterator[Message]:
        """Raises `UserError` where a line is none of ours."""
        path = self.folder(session_id) / MESSAGES
        data = confined.read_bytes(path, self.root, _MOST_BYTES)
        if data is None:
            raise UserError(f"{path}: no such file; {_ADVICE}")
        for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else (), 1):
            try:
                yield Message.from_data(decode_object(line, _LINE))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise UserError(f"{path}:{number}: not a message ({_first_line(error)}); {_ADVICE}") from None

    def is_complete(self, session: Session) -> bool:
        """Whether the files are those that session.json names; not so after an interrupted import."""
        for name, expected in ((MESSAGES, session.messages_sha256), (RAW, session.raw_sha256)):
            data = confined.read_bytes(self.folder(session.id) / name, self.root, _MOST_BYTES)
            if data is None or sha256_text(data.decode("utf-8", "replace")) != expected:
                return False
        return confined.is_file(self.folder(session.id) / TRAJECTORY, self.root)

    def write(self, session: Session, messages: str, raw: str, trajectory: dict[str, Any]) -> None:
        """Raises `UserError` where a file cannot be written."""
        folder = self.folder(session.id)
        write_atomic(folder / MESSAGES, messages, self.root)
        write_atomic(folder / RAW, raw, self.root)
        text = json.dumps(trajectory, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomic(folder / TRAJECTORY, text + "\n", self.root)
        write_record(folder / RECORD, session, self.root)


def to_lines(values: Iterable[dict[str, Any]]) -> str:
    """JSON Lines: one value a line, in the order of their keys."""
    return "".join(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n" for value in values)


def find_home(cwd: Path) -> Path:
    """The folder that has, or is to have, `sessions/`: the nearest with it, a suite or a repository; else `cwd`."""
    marks: Sequence[str] = (SESSIONS, "evals", "convex-evals.yaml", ".git")
    return next((folder for folder in (cwd, *cwd.parents) if any((folder / mark).exists() for mark in marks)), cwd)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:200]
