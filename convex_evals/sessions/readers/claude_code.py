"""Claude Code's transcripts: a file of records for each session, and for each of its sub-agents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from convex_evals.sessions.conversation import Conversation, Problems
from convex_evals.sessions.folders import files_below
from convex_evals.sessions.readers.claude_agents import Groups, conversations, split
from convex_evals.sessions.readers.claude_threads import NAME, session_of, thread
from convex_evals.sessions.readers.log_records import LogRecord, Teller, read_records

_PREFIX = "agent-"
_AGENTS = f"{_PREFIX}*.jsonl"
_FOLDER = "subagents"
_REQUESTS = "history.jsonl"  # all that was typed, in any session
_SESSION = re.compile(rb'"sessionId"\s*:\s*"([\w-]+)"')
_HEAD = 64 * 1024
_SPOKEN = frozenset(("user", "assistant"))


class ClaudeCode:
    """The reader `claude-code`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return (home / ".claude" / "projects", home / ".config" / "claude" / "projects")

    def files(self, place: Path) -> Iterator[Path]:
        """Sessions, and of sub-agents those whose session is not there."""
        if place.is_file():
            if place.name != _REQUESTS:
                yield place
            return
        projects = place / "projects"  # next to it are settings, credentials and the history of requests
        for file in files_below(projects if projects.is_dir() else place, "*.jsonl"):
            if file.name == _REQUESTS:
                continue
            if not file.name.startswith(_PREFIX):
                if _session_folder(file) is None:
                    yield file
            elif not _is_read_with_session(file, place):
                yield file

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        teller = Teller(problems)
        records = read_records(file, problems)
        if not records:
            return
        if file.name.startswith(_PREFIX):
            yield from _agent(file, records, teller)
            return
        main, groups = split(records)
        session = _name(main or records, file)
        if groups and not any(record.kind in _SPOKEN for record in main):
            groups = {agent: [*(main if not at else ()), *group] for at, (agent, group) in enumerate(groups.items())}
            main = []
        yield from conversations(session, main, _with_files(file, session, groups, problems), teller)


def _agent(file: Path, records: list[LogRecord], teller: Teller) -> Iterator[Conversation]:
    """The conversation of a sub-agent whose session is not read."""
    folder = _session_folder(file)
    session = session_of(records) or (folder.name if folder else None)
    if session is None:
        yield thread(records, file.stem, teller).conversation
    else:
        yield from conversations(session, [], {file.stem.removeprefix(_PREFIX): records}, teller)


def _with_files(file: Path, session: str, groups: Groups, problems: Problems) -> Groups:
    """Sub-agents of the session, with those that have files of their own."""
    found = {agent: list(records) for agent, records in groups.items()}
    for path in _agent_files(file, session):
        records = read_records(path, problems)
        if records:
            found.setdefault(path.stem.removeprefix(_PREFIX), []).extend(records)
    return found


def _agent_files(file: Path, session: str) -> Iterator[Path]:
    folder = file.with_suffix("") / _FOLDER
    if folder.is_dir() and not folder.is_symlink() and not folder.parent.is_symlink():
        yield from files_below(folder, _AGENTS)
    names = {file.stem, session}
    for path in sorted(file.parent.glob(_AGENTS)):  # as older versions have them
        if path.is_file() and not path.is_symlink() and _session_named_in(path) in names:
            yield path


def _is_read_with_session(agent: Path, place: Path) -> bool:
    session = _session_file(agent)
    return (
        session is not None
        and session.is_relative_to(place.absolute())
        and session.is_file()
        and not session.is_symlink()
    )


def _session_file(agent: Path) -> Path | None:
    """Where the session of a sub-agent's file should be."""
    if folder := _session_folder(agent):
        return folder.with_name(f"{folder.name}.jsonl")
    session = _session_named_in(agent)
    return agent.absolute().with_name(f"{session}.jsonl") if session else None


def _session_folder(agent: Path) -> Path | None:
    """The session's folder, where the file is in the one for its sub-agents."""
    return next((folder.parent for folder in agent.absolute().parents if folder.name == _FOLDER), None)


def _session_named_in(agent: Path) -> str | None:
    try:
        status = agent.stat()
        return _named_in(agent, status.st_size, status.st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=10_000)
def _named_in(agent: Path, size: int, changed: int) -> str | None:
    """The session that the beginning of a file names. Each session asks this of all agents next to it."""
    with agent.open("rb") as stream:
        found = _SESSION.search(stream.read(_HEAD))
    return found[1].decode() if found else None


def _name(records: Sequence[LogRecord], file: Path) -> str:
    """The id of the session: the file's name if records have it, as those taken over from another have another."""
    if any(record.value.get("sessionId") == file.stem for record in records):
        return file.stem
    return session_of(records) or file.stem


READER = ClaudeCode()
