"""Cursor: the editor's database, the transcripts of its agent, and chats that people exported as Markdown.

All but the Markdown go by the id of the conversation, so that a transcript and the database's entry are one session.
The database tells more: results of tools, models, times. `store.db`, below `~/.cursor/chats`, is not read: it has no
published form, and the agent of the command line writes transcripts as well.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from convex_evals.sessions.conversation import Conversation, Problems
from convex_evals.sessions.lines import LARGEST_FILE
from convex_evals.sessions.readers import cursor_sqlite as sqlite
from convex_evals.sessions.readers.cursor_bubbles import NAME, conversation
from convex_evals.sessions.readers.cursor_database import composers
from convex_evals.sessions.readers.cursor_text import exported_chat, text_transcript
from convex_evals.sessions.readers.cursor_transcripts import transcript

_DATABASE = "state.vscdb"
_STATE = Path("Cursor", "User", "globalStorage", _DATABASE)
_TRANSCRIPTS = "agent-transcripts"
_OTHERS = (_DATABASE, "transcript.jsonl", "cursor_*.md")  # in any folder: names that Cursor gives exports


class Cursor:
    """The reader `cursor`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return (
            home / ".config" / _STATE,
            home / "Library" / "Application Support" / _STATE,
            home / "AppData" / "Roaming" / _STATE,
            home / ".cursor" / "projects",
        )

    def files(self, place: Path) -> Iterator[Path]:
        if place.is_file():
            yield place
            return
        for folder, names, files in os.walk(place):
            # The transcript of a conversation before those of its sub-agents, which stand in a folder beside it.
            names.sort()
            is_transcripts = _TRANSCRIPTS in Path(folder).absolute().parts
            patterns = (*_OTHERS, "*.jsonl", "*.txt") if is_transcripts else _OTHERS
            for name in sorted(files):
                path = Path(folder, name)
                if any(fnmatch(name, pattern) for pattern in patterns) and not path.is_symlink():
                    yield path

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        try:
            if file.suffix in (".jsonl", ".txt", ".md"):
                if file.stat().st_size > LARGEST_FILE:
                    problems(f"{file}: larger than {LARGEST_FILE:,} bytes; not read")
                    return
                read = {".jsonl": transcript, ".txt": text_transcript, ".md": exported_chat}[file.suffix]
                found = read(file, problems)
                if found is not None:
                    yield found
                return
            with sqlite.opened(file) as database:
                for composer in composers(database, str(file), problems):
                    yield conversation(composer)
        except (OSError, sqlite3.Error, sqlite.DatabaseProblem) as error:
            problems(f"{file}: {sqlite.told(error)}; what was not read yet is skipped")


READER = Cursor()
