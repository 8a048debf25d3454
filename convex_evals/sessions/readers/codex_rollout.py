"""Codex's rollouts: what a thread said, and what happened in it, a record each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import (
    DETAIL,
    MESSAGE,
    OTHER_BRANCH,
    REPEATED,
    UNKNOWN,
    Conversation,
    RecordCount,
    session_id,
)
from convex_evals.sessions.message import SYSTEM, USER, Part
from convex_evals.sessions.readers.codex_events import Said, failed_call, started_agent, texts_of_event
from convex_evals.sessions.readers.codex_items import (
    TellKind,
    agent_of,
    call_of,
    difference,
    divided,
    parts_of,
    result_of,
    thinking_of,
    usage_of,
)
from convex_evals.sessions.readers.codex_messages import CodexMessages
from convex_evals.sessions.readers.codex_records import (
    EVENT_DETAILS,
    ITEM_DETAILS,
    RECORD_DETAILS,
    CodexEntry,
    entry_of,
    instructions_of,
    is_copied,
    native_id,
    parent_of,
    places_in,
)
from convex_evals.sessions.readers.log_records import LogRecord, Teller
from convex_evals.sessions.readers.values import Data, as_natural, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "codex"


def conversation(file: Path, records: Sequence[LogRecord], teller: Teller) -> Conversation:
    """The conversation of a rollout's records."""
    return _Reader(file, records, teller).conversation()


class _Reader:
    def __init__(self, file: Path, records: Sequence[LogRecord], teller: Teller) -> None:
        self._file = file
        self._records = records
        self._teller = teller
        self._entries = [entry_of(record) for record in records]
        self._meta: Data = next((entry.payload for entry in self._entries if entry.kind == "session_meta"), {})
        self._parent = parent_of(self._meta)
        self._said = Said(entry.payload for entry in self._entries if entry.kind == "response_item")
        self._messages = CodexMessages()
        self._fates: list[str] = []
        self._unknown: Counter[str] = Counter()
        self._model: str | None = None
        self._title: str | None = None
        self._totals: Usage | None = None
        self._dropped: list[tuple[int, int]] = []  # ranges of records that were rolled back

    def conversation(self) -> Conversation:
        for record, entry in zip(self._records, self._entries, strict=True):
            fate = record.fault or self._take(record, entry)
            if fate == UNKNOWN:
                self._unknown[entry.name[:100]] += 1
            self._fates.append(fate)
        for at in places_in(self._dropped):
            self._fates[at] = OTHER_BRANCH if self._fates[at] == MESSAGE else self._fates[at]
        return Conversation(
            NAME,
            native_id(self._meta, self._file),
            self._messages.all(),
            [record.text for record in self._records],
            RecordCount(Counter(self._fates), self._unknown),
            title=self._title,
            tool_version=as_text(self._meta.get("cli_version")),
            folder=as_text(self._meta.get("cwd")),
            git_branch=as_text(as_object(self._meta.get("git")).get("branch")),
            parent=self._parent,
            branches=len(self._dropped),
            started_at=timestamp(self._meta.get("timestamp")),
        )

    def _take(self, record: LogRecord, entry: CodexEntry) -> str:
        kind, payload = entry.kind, entry.payload
        if kind == "response_item":
            return self._item(record, entry)
        if kind == "event_msg":
            return self._event(record, entry)
        if kind == "session_meta":
            return self._instructions(entry) if payload is self._meta else DETAIL
        if kind == "turn_context":
            self._model = as_text(payload.get("model")) or self._model
            return DETAIL
        if kind == "compacted":
            self._messages.compacted()
            return self._user(record, entry, payload.get("message"), added=True)
        if kind == "inter_agent_communication":
            return self._from_agent(record, entry)
        return DETAIL if kind in RECORD_DETAILS else UNKNOWN

    def _instructions(self, entry: CodexEntry) -> str:
        """The instructions that come first. Those of the project may be said again under the role of the user."""
        base, project = instructions_of(entry.payload)
        texts = [text for text in (base, None if self._said.is_added(project) else project) if text]
        parts: list[Part] = [{"type": "text", "text": text} for text in texts]
        return MESSAGE if self._messages.system(parts, entry.time, len(self._fates)) else DETAIL

    def _item(self, record: LogRecord, entry: CodexEntry) -> str:
        item, kind = entry.payload, str(entry.payload.get("type"))
        if as_object(record.value.get("metadata")).get("compaction_output") is True:
            return DETAIL
        if kind == "message":
            return self._message(record, entry)
        if kind == "agent_message":
            return self._from_agent(record, entry)
        if kind == "reasoning":
            return self._think(entry, thinking_of(item))
        result = result_of(item, self._tell(record))
        call = call_of(item)
        if call is not None:
            return self._call(entry, call, result)
        if result is not None:
            return self._result(entry, result)
        return DETAIL if kind in ITEM_DETAILS else UNKNOWN

    def _message(self, record: LogRecord, entry: CodexEntry) -> str:
        role, content = entry.payload.get("role"), entry.payload.get("content")
        if role == USER:
            return self._user(record, entry, content)
        parts = parts_of(content, self._tell(record))
        if parts is None:
            return UNKNOWN
        if role in (SYSTEM, "developer"):
            return MESSAGE if self._messages.system(parts, entry.time, len(self._fates)) else DETAIL
        if role != "assistant":
            return UNKNOWN
        return self._reply(entry, parts)

    def _user(self, record: LogRecord, entry: CodexEntry, content: object, added: bool = False) -> str:
        parts = parts_of(content, self._tell(record))
        if parts is None:
            return UNKNOWN
        notes, said = (parts, []) if added else divided(parts)
        is_used = self._messages.user(notes, entry.time, len(self._fates), injected=True)
        is_used = self._messages.user(said, entry.time, len(self._fates)) or is_used
        return MESSAGE if is_used else DETAIL

    def _from_agent(self, record: LogRecord, entry: CodexEntry) -> str:
        """What another agent said: in a sub-agent's conversation the request, elsewhere no person's."""
        parts = parts_of(entry.payload.get("content"), self._tell(record))
        if parts is None:
            return UNKNOWN
        is_injected = self._parent is None
        is_used = self._messages.user(parts, entry.time, len(self._fates), is_injected, is_turn=True)
        return MESSAGE if is_used else DETAIL

    def _reply(self, entry: CodexEntry, parts: list[Part]) -> str:
        if not parts:
            return DETAIL
        self._messages.reply(entry.time, len(self._fates), self._model).parts += parts
        return MESSAGE

    def _think(self, entry: CodexEntry, texts: list[str]) -> str:
        if not texts:  # it is encrypted, or was not shown
            return DETAIL
        self._messages.reply(entry.time, len(self._fates), self._model).thinking += texts
        return MESSAGE

    def _call(
        self, entry: CodexEntry, call: tuple[str | None, str, str], result: tuple[str | list[Part], bool] | None
    ) -> str:
        reply = self._messages.reply(entry.time, len(self._fates), self._model)
        if not self._messages.call(reply, *call):
            return REPEATED
        if result and result[0]:
            self._messages.result(next(reversed(reply.calls)), *result, entry.time, len(self._fates))
        return MESSAGE

    def _result(self, entry: CodexEntry, result: tuple[str | list[Part], bool]) -> str:
        call = as_text(entry.payload.get("call_id"))
        agent = agent_of(result[0]) if (self._messages.name_of(call) or "").endswith("spawn_agent") else None
        if call and agent:
            self._messages.results.agents[call] = session_id(NAME, agent)
        return MESSAGE if self._messages.result(call, *result, entry.time, len(self._fates)) else REPEATED

    def _event(self, record: LogRecord, entry: CodexEntry) -> str:
        event, kind = entry.payload, str(entry.payload.get("type"))
        if kind == "token_count":
            return self._tokens(as_object(event.get("info")), is_copied(record, self._meta))
        if kind == "thread_rolled_back":
            return self._roll_back(as_natural(event.get("num_turns")))
        if kind == "thread_name_updated":
            self._title = as_text(event.get("thread_name")) or self._title
            return DETAIL
        if failed := failed_call(event):
            self._messages.results.failed.add(failed)
        if started := started_agent(event):
            self._messages.results.agents.setdefault(started[0], session_id(NAME, started[1]))
        found = texts_of_event(event)
        if found is not None:
            return self._said_in_event(record, entry, *found)
        return DETAIL if kind in EVENT_DETAILS else UNKNOWN

    def _said_in_event(self, record: LogRecord, entry: CodexEntry, role: str, texts: list[str]) -> str:
        """What events repeat counts where no item has it."""
        new = [text for text in texts if not self._said.has(role, text)]
        if not new:
            return REPEATED if texts else DETAIL
        if role == USER:
            return self._user(record, entry, new)
        if role == "thinking":
            return self._think(entry, new)
        return self._reply(entry, [{"type": "text", "text": text} for text in new])

    def _tokens(self, info: Data, is_copied: bool) -> str:
        """Tokens of one request; the same totals are said again when limits of the plan have changed."""
        self._messages.request()
        totals = usage_of(info.get("total_token_usage"))
        if is_copied or (totals is not None and totals == self._totals):
            self._totals = totals or self._totals
            return REPEATED
        last = usage_of(info.get("last_token_usage")) or (difference(totals, self._totals) if totals else None)
        self._totals = totals or self._totals
        if last is not None:
            self._messages.usage(last)
        return DETAIL

    def _roll_back(self, turns: int) -> str:
        first = self._messages.roll_back(turns)
        if first is not None:
            self._dropped.append((first, len(self._fates)))
        return DETAIL

    def _tell(self, record: LogRecord) -> TellKind:
        return lambda kind: self._teller.block(record, kind)
