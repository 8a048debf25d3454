"""A conversation as a reader of an agent's files brings it, before secrets are removed and it becomes a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from convex_evals.records.hashes import sha256_text
from convex_evals.sessions.message import Message

# What becomes of a record that a reader takes in. Each is counted once, so that the sum is what was read.
MESSAGE = "message"  # a part of a message of the session
DETAIL = "detail"  # says something of the session, or of a message: title, model, usage
OTHER_BRANCH = "other_branch"  # stands on a path that did not lead to the end
REPEATED = "repeated"  # says again what another record says
UNKNOWN = "unknown"  # of a kind that the reader does not know; kept as it is in the raw records
UNREADABLE = "unreadable"  # no JSON, or larger than is read; kept as text where it can be
FATES = (MESSAGE, DETAIL, OTHER_BRANCH, REPEATED, UNKNOWN, UNREADABLE)


@dataclass
class RecordCount:
    """What became of the records of one conversation."""

    fates: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)  # kinds of records, as the agent names them

    def count(self, fate: str, number: int = 1) -> None:
        self.fates[fate] += number

    def count_unknown(self, kind: str) -> None:
        self.fates[UNKNOWN] += 1
        self.unknown[kind[:100]] += 1

    @property
    def read(self) -> int:
        return sum(self.fates.values())


@dataclass
class Conversation:
    """What one agent recorded of one conversation. Nothing of it is checked for secrets yet."""

    tool: str  # name of the reader: claude-code, codex, ...
    native_id: str  # the agent's own id of the conversation; with `tool`, what its session is identified by
    messages: list[Message]
    raw: list[str]  # the records as they were read, one text each, in order; without line ends where they were lines
    records: RecordCount  # of `raw`
    title: str | None = None  # as the agent has it
    tool_version: str | None = None
    folder: str | None = None  # that the agent worked in
    git_branch: str | None = None
    parent: str | None = None  # native id of the conversation whose agent started this one
    branches: int = 0  # other paths through the conversation: edits and repetitions that were given up
    started_at: str | None = None  # where it is known besides the times of messages
    cost_usd: float | None = None  # of all of it, where that is recorded besides the costs of messages

    @property
    def session_id(self) -> str:
        return session_id(self.tool, self.native_id)


def session_id(tool: str, native_id: str) -> str:
    """The id of a session: the same each time the same conversation is imported, however long it has become."""
    return sha256_text(f"{tool}\0{native_id}")[:20]


# Called with what could not be read, one line each: where, what, and what became of it.
Problems = Callable[[str], None]


class Reader(Protocol):
    """Reads the conversations that one agent keeps."""

    name: str  # the word of `--from`

    def places(self, home: Path) -> Sequence[Path]:
        """Files and folders below `home` where the agent keeps conversations; not all need to be there."""

    def files(self, place: Path) -> Iterable[Path]:
        """The files at or below `place` that hold conversations, in order. No other file is opened by `read`."""

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        """The conversations of one of `files`, a sub-agent's after the one that started it.

        Reads no other file, but for those that the agent keeps a part of the same conversation in. What cannot be
        read is told to `problems`, and never raised: the next file may be in order.
        """
