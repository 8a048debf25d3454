"""OpenCode: what `opencode export ID` prints, its database, and the folder of JSON files that it kept before."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from convex_evals.sessions.conversation import Conversation, Problems
from convex_evals.sessions.readers import cursor_sqlite as sqlite
from convex_evals.sessions.readers.opencode_messages import conversation
from convex_evals.sessions.readers.opencode_parts import NAME
from convex_evals.sessions.readers.opencode_stored import DocumentProblem, database_sessions, file_session

_DATABASES = ("opencode.db", "opencode-*.db")  # one for each release channel
_CREDENTIALS = frozenset(("auth.json", "mcp-auth.json", "account.json"))
_UNRELATED = frozenset(("node_modules", "snapshot", "bin", "log"))  # of a data folder: programs, copies of files


class OpenCode:
    """The reader `opencode`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return (home / ".local" / "share" / "opencode",)

    def files(self, place: Path) -> Iterator[Path]:
        """Databases first: OpenCode left the files as they were when it moved their contents to one."""
        if place.is_file():
            if place.name not in _CREDENTIALS:
                yield place
            return
        for folder, names, files in os.walk(place):
            patterns: tuple[str, ...] = (*_DATABASES, "*.json")
            if {"session", "message"} <= set(names):
                names[:], patterns = ["session"], ()
            elif "storage" in names or _CREDENTIALS & set(files):
                names[:], patterns = [name for name in names if name == "storage"], _DATABASES
            else:
                names[:] = sorted(name for name in names if name not in _UNRELATED and not name.startswith("."))
            found = [name for name in files if any(fnmatch(name, each) for each in patterns)]
            for path in (Path(folder, name) for name in _oldest_first(found)):
                if path.name not in _CREDENTIALS and not path.is_symlink():
                    yield path

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        if file.name in _CREDENTIALS:
            problems(f"{file}: holds credentials; not opened")
            return
        try:
            if file.suffix == ".db" or sqlite.is_database(file):
                with sqlite.opened(file) as database:
                    for stored in database_sessions(database, str(file), problems):
                        yield conversation(stored)
            else:
                yield conversation(file_session(file, problems))
        except DocumentProblem as error:
            problems(f"{file}:1: {error}; skipped")
        except (OSError, sqlite3.Error, sqlite.DatabaseProblem) as error:
            problems(f"{file}: {sqlite.told(error)}; what was not read yet is skipped")


def _oldest_first(names: Sequence[str]) -> list[str]:
    """Databases, then others by name; ids of sessions descend, so that a sub-agent's is before its parent's."""
    sessions = sorted((name for name in names if name.startswith("ses_")), reverse=True)
    others = sorted(name for name in names if not name.startswith("ses_"))
    return [
        *(name for name in others if name.endswith(".db")),
        *sessions,
        *(n for n in others if not n.endswith(".db")),
    ]


READER = OpenCode()
