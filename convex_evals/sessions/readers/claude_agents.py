"""Sub-agents of a Claude Code session: which records are whose, and which call started whom."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from convex_evals.sessions.conversation import Conversation, session_id
from convex_evals.sessions.lines import json_file
from convex_evals.sessions.message import TOOL, USER, Message
from convex_evals.sessions.readers.claude_threads import NAME, ClaudeThread, thread
from convex_evals.sessions.readers.log_records import LogRecord, Teller
from convex_evals.sessions.readers.values import Data, as_object, as_text

Groups = dict[str, list[LogRecord]]  # by the id of the agent, or of its first record
_STARTERS = frozenset(("Task", "Agent"))
_LARGEST_DESCRIPTION = 1024 * 1024


def split(records: Sequence[LogRecord]) -> tuple[list[LogRecord], Groups]:
    """The records of the main thread, and those of sub-agents that were recorded among them."""
    aside = {
        uuid: record
        for record in records
        if record.value.get("isSidechain") is True and (uuid := record.text_at("uuid")) is not None
    }
    main: list[LogRecord] = []
    groups: Groups = {}
    for record in records:
        if record.value.get("isSidechain") is not True:
            main.append(record)
        else:
            agent = record.text_at("agentId") or _first(record, aside)
            groups.setdefault(agent, []).append(record)
    return main, groups


def _first(record: LogRecord, aside: dict[str, LogRecord]) -> str:
    """The record that a side chain began with, or the agent that it is of."""
    seen: set[str] = set()
    while True:
        uuid = record.text_at("uuid") or f"line-{record.number}"
        seen.add(uuid)
        above = aside.get(record.text_at("parentUuid") or "")
        if above is None or above.text_at("uuid") in seen:
            return uuid
        if agent := above.text_at("agentId"):
            return agent
        record = above


def conversations(session: str, main: Sequence[LogRecord], groups: Groups, teller: Teller) -> Iterator[Conversation]:
    """The main conversation, if there is one, and each sub-agent's after the one that started it."""
    agents = {agent: thread(records, f"{session}/{agent}", teller, parent=session) for agent, records in groups.items()}
    first = thread(main, session, teller) if main else None
    descriptions = {agent: _description(groups[agent]) for agent in groups}
    for agent, said in descriptions.items():
        found = agents[agent].conversation
        found.title = found.title or as_text(said.get("description"))
    for each in (first, *agents.values()):
        if each is not None:
            _link(each, agents, descriptions)
    if first is not None:
        yield first.conversation
    yield from _in_order(session, agents)


def _in_order(session: str, agents: dict[str, ClaudeThread]) -> Iterator[Conversation]:
    left = [each.conversation for each in agents.values()]
    known = {session}
    while left:
        ready = [each for each in left if each.parent in known]
        if not ready:  # agents that started each other, which no agent does
            ready, left[0].parent = left[:1], session
        known.update(each.native_id for each in ready)
        left = [each for each in left if each.native_id not in known]
        yield from ready


def _link(starter: ClaudeThread, agents: dict[str, ClaudeThread], descriptions: dict[str, Data]) -> None:
    """Name the agent's session in the message of each call that started one."""
    messages = starter.conversation.messages
    described = {call: agent for agent, said in descriptions.items() if (call := as_text(said.get("toolUseId")))}
    started = {**starter.started, **described}
    known = set(started.values())
    others = {agent: each for agent, each in agents.items() if each is not starter and agent not in known}
    started = {**_by_prompt(messages, others, started), **started}
    for index, message in enumerate(messages):
        agent = started.get(message.tool_call_id or "") if message.role == TOOL else None
        if agent in agents and agents[agent] is not starter:
            found = agents[agent].conversation
            found.parent = starter.conversation.native_id
            messages[index] = replace(message, subagent=session_id(NAME, found.native_id))


def _by_prompt(messages: Sequence[Message], agents: dict[str, ClaudeThread], others: Collection[str]) -> dict[str, str]:
    """Agents by the calls that gave them their first request, where only one call and one agent has it.

    `others` are calls of which it is known whom they started.
    """
    made = [call for each in messages for call in each.tool_calls if call.name in _STARTERS and call.id not in others]
    calls = [(call.id, _prompt(call.arguments)) for call in made]
    requests = [(agent, _request(each.conversation.messages)) for agent, each in agents.items()]
    asked, given = [prompt for _, prompt in calls], [request for _, request in requests]
    return {
        call: agent
        for call, prompt in calls
        for agent, request in requests
        if prompt and prompt == request and asked.count(prompt) == given.count(prompt) == 1
    }


def _prompt(arguments: str) -> str:
    try:
        return str(as_object(json.loads(arguments)).get("prompt") or "").strip()
    except ValueError:
        return ""


def _request(messages: Sequence[Message]) -> str:
    return next((message.text.strip() for message in messages if message.role == USER), "")


def _description(records: Sequence[LogRecord]) -> Data:
    """What Claude Code keeps beside an agent's own file: the call that started it, and in words what for."""
    file = records[-1].file.with_suffix(".meta.json")
    try:
        small = (
            file.name.startswith("agent-")
            and file.is_file()
            and not file.is_symlink()
            and file.stat().st_size <= _LARGEST_DESCRIPTION
        )
        return as_object(json_file(file).value) if small else {}
    except OSError:
        return {}
