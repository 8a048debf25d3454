"""Aider: `.aider.chat.history.md`, a log in Markdown that it appends to, several conversations to a file.

Aider writes `# aider chat started at TIME`, then the person's lines behind `#### `, its own output behind `> `, and
replies as they are. Both prefixed kinds end in two blanks, which tells them from headings and quotations of replies;
where an editor removed the blanks, every line with a prefix counts as Aider's own reader counts it. That reader drops
all lines that begin with `# `; they are kept here. Two readings remain uncertain, since nothing is escaped: of an
output that was written at once, all lines but the first look like a reply; and an answer to a question of Aider's for
a group of files looks like a request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.records.hashes import sha256_text
from convex_evals.sessions.conversation import DETAIL, UNREADABLE, Conversation, Problems, RecordCount
from convex_evals.sessions.folders import project_files
from convex_evals.sessions.lines import LARGEST_FILE, LONGEST_LINE
from convex_evals.sessions.readers.aider_messages import messages_of
from convex_evals.sessions.times import timestamp
from convex_evals.text import well_formed

NAME = ".aider.chat.history.md"
_START = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")


def text_lines(file: Path) -> Iterator[str | None]:
    """The lines of a text file without their ends; None for one that is too long. Raises `OSError`."""
    with file.open("rb") as stream:
        while data := stream.readline(LONGEST_LINE + 1):
            if data.endswith(b"\n") or len(data) <= LONGEST_LINE:
                yield well_formed(data.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace"))
                continue
            while data and not data.endswith(b"\n"):
                data = stream.readline(LONGEST_LINE)
            yield None


@dataclass(frozen=True, slots=True)
class _Chat:
    """The lines from one start of Aider to the next."""

    number: int  # of the first line, from 1
    start: str | None  # the time in it
    lines: list[str | None]

    @property
    def is_empty(self) -> bool:
        return self.start is None and all(line is not None and not line.strip() for line in self.lines)


class Aider:
    """The reader `aider`."""

    name = "aider"

    def places(self, home: Path) -> Sequence[Path]:
        return (home / NAME,)

    def files(self, place: Path) -> Iterator[Path]:
        if place.is_file():
            yield place
            return
        yield from project_files(place, NAME.__eq__)

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        try:
            if file.stat().st_size > LARGEST_FILE:
                problems(f"{file}: larger than {LARGEST_FILE:,} bytes; not read")
                return
            starts: Counter[str | None] = Counter()
            for chat in _chats(text_lines(file)):
                if not chat.is_empty:
                    starts[chat.start] += 1
                    yield _conversation(file, chat, starts[chat.start], problems)
        except OSError as error:
            problems(f"{file}: cannot be read ({error.strerror}); skipped")


def _chats(lines: Iterator[str | None]) -> Iterator[_Chat]:
    """Aider puts an empty line before each start; one that a reply quotes in the midst of text is none."""
    chat, is_after_blank = _Chat(1, None, []), True
    for number, line in enumerate(lines, 1):
        started = _START.fullmatch(line) if line is not None and is_after_blank else None
        if started:
            yield chat
            chat = _Chat(number, started[1], [])
        chat.lines.append(line)
        is_after_blank = line is not None and not line.strip()
    yield chat


def _conversation(file: Path, chat: _Chat, ordinal: int, problems: Problems) -> Conversation:
    records = RecordCount()
    for number, line in enumerate(chat.lines, chat.number):
        if line is None:
            problems(f"{file}:{number}: longer than {LONGEST_LINE:,} bytes; left out")
            records.count(UNREADABLE)
    if chat.start is not None:
        records.count(DETAIL)
    said = chat.lines if chat.start is None else chat.lines[1:]
    told = messages_of([line for line in said if line is not None], records)
    return Conversation(
        tool=Aider.name,
        # Aider has no ids. What is taken must stay when the file grows or moves: the start, which is a second, and
        # how many of the same second stand before it.
        native_id=sha256_text(f"{chat.start or ''}\0{ordinal}")[:32],
        messages=told.messages,
        raw=[line or "" for line in chat.lines],
        records=records,
        tool_version=told.version,
        folder=str(file.absolute().parent) if file.name == NAME else None,
        started_at=timestamp(chat.start),
        cost_usd=told.cost_usd,
    )


READER = Aider()
