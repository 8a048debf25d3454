"""A session of GitHub Copilot CLI: the conversation with the person, and those of its sub-agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from convex_evals.sessions.conversation import Conversation, session_id
from convex_evals.sessions.readers.copilot_thread import CopilotThread
from convex_evals.sessions.readers.log_records import LogRecord, Teller
from convex_evals.sessions.readers.values import Data, as_list, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "copilot"
_SPOKEN = frozenset(("assistant", "skill", "system", "tool", "user"))


def conversations(
    records: Sequence[LogRecord], native_id: str, teller: Teller, workspace: Data
) -> Iterator[Conversation]:
    """The conversation of the records, and of each sub-agent its own after it."""
    session, told = _named(records) or native_id, _told(records, workspace)
    groups, removed = _groups(records), _removed(records)
    agents = {call: f"{session}/{agent}" for call, agent in _agents(records).items() if agent in groups}
    started = {call: session_id(NAME, agent) for call, agent in agents.items()}
    for agent, group in groups.items():
        thread = CopilotThread(group, teller, removed, started, is_main=not agent)
        name = f"{session}/{agent}" if agent else session
        found = Conversation(NAME, name, thread.messages(), thread.raw, thread.count, branches=thread.branches, **told)
        if agent:
            found.parent, found.title, found.started_at = session, None, None
        if group:
            yield found


def _told(records: Sequence[LogRecord], workspace: Data) -> dict[str, Any]:
    """What is known of the session besides its messages."""
    start = next((_data(record) for record in records if record.kind == "session.start"), {})
    contexts = [_context(record) for record in records]
    return {
        "title": _title(records) or as_text(workspace.get("name")) or _line(workspace.get("summary")),
        "tool_version": as_text(start.get("copilotVersion")),
        "folder": _first(contexts, "cwd") or as_text(workspace.get("cwd")),
        "git_branch": _first(contexts, "branch") or as_text(workspace.get("branch")),
        "parent": as_text(start.get("detachedFromSpawningParentSessionId")),
        "started_at": timestamp(start.get("startTime")),
    }


def _context(record: LogRecord) -> Data:
    data = _data(record)
    if record.kind in ("session.start", "session.resume"):
        return as_object(data.get("context"))
    return data if record.kind == "session.context_changed" else {}


def _first(values: Sequence[Data], key: str) -> str | None:
    return next((text for value in values if (text := as_text(value.get(key)))), None)


def _title(records: Sequence[LogRecord]) -> str | None:
    titles = (
        as_object(each.value.get("data")).get("title") for each in records if each.kind == "session.title_changed"
    )
    return next((text for text in reversed(list(titles)) if as_text(text)), None)


def _line(text: object) -> str | None:
    return (as_text(text) or "").strip().partition("\n")[0] or None


def _named(records: Sequence[LogRecord]) -> str | None:
    """The id that the events have of their session; what is printed has it at the end."""
    for record in records:
        data = as_object(record.value.get("data"))
        given = record.value if record.kind == "result" else data if record.kind == "session.start" else {}
        if name := as_text(given.get("sessionId")):
            return name
    return None


def _groups(records: Sequence[LogRecord]) -> dict[str, list[LogRecord]]:
    """Records by the agents that they are of; those of none first."""
    agents = _agents(records)
    groups: dict[str, list[LogRecord]] = {"": []}
    for record in records:
        groups.setdefault(_agent(record, agents), []).append(record)
    return groups


def _agent(record: LogRecord, agents: dict[str, str]) -> str:
    # A sub-agent's beginning and end are said to the one that started it.
    if record.kind.partition(".")[0] not in _SPOKEN:
        return ""
    call = as_text(as_object(record.value.get("data")).get("parentToolCallId"))
    return record.text_at("agentId") or (agents.get(call, call) if call else "")


def _agents(records: Sequence[LogRecord]) -> dict[str, str]:
    """Sub-agents by the calls that started them. Older versions name them by the call."""
    found: dict[str, str] = {}
    for record in records:
        call = as_text(as_object(record.value.get("data")).get("toolCallId"))
        if record.kind == "subagent.started" and call:
            found[call] = record.text_at("agentId") or call
    return found


def _removed(records: Sequence[LogRecord]) -> dict[str, int]:
    """Ids of the events that were taken back, with the number of the time: an event and all later ones, or some."""
    found: dict[str, int] = {}
    present: list[str] = []
    known: set[str] = set()
    for number, record in enumerate(records):
        if record.kind == "session.snapshot_rewind":
            data = _data(record)
            named = [text for each in as_list(data.get("eventIds")) if (text := as_text(each))]
            first = as_text(data.get("upToEventId"))
            while not named and first in known:
                last = present.pop()
                known.discard(last)
                found.setdefault(last, number)
            found.update((name, number) for name in named if name in known and name not in found)
        elif (name := record.text_at("id")) and name not in known:
            present.append(name)
            known.add(name)
    return found


def _data(record: LogRecord) -> Data:
    return as_object(record.value.get("data"))
