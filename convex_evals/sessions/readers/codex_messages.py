"""Messages out of records that come one by one, with the records that each was made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from convex_evals.records.generation import Usage
from convex_evals.sessions.message import SYSTEM, TOOL, USER, Message, Part, ToolCall
from convex_evals.sessions.readers.anthropic_blocks import joined
from convex_evals.sessions.readers.anthropic_messages import OpenReply


@dataclass(slots=True)
class _Entry:
    record: int  # place of the first record of it
    content: Message | OpenReply


@dataclass(slots=True)
class Results:
    """What is recorded of calls besides their results, by ids of calls."""

    failed: set[str] = field(default_factory=set)
    agents: dict[str, str] = field(default_factory=dict)  # ids of the sessions of the agents that did them


class CodexMessages:
    """Collects the messages of one conversation. A reply is open until something else is said."""

    def __init__(self) -> None:
        self.results = Results()
        self._entries: list[_Entry] = []
        self._turns: list[int] = []  # places of the entries that turns begin with
        self._open: OpenReply | None = None
        self._last: OpenReply | None = None
        # Some versions tell of the tokens of a request before its reply, others after it: seen where a turn begins.
        self._is_early: bool | None = None
        self._pending: Usage | None = None
        self._has_reply = False  # in this turn
        self._names: dict[str, str] = {}  # of tools, by ids of calls
        self._answers: dict[str, Message] = {}
        self._unnamed = 0

    def all(self) -> list[Message]:
        contents = (entry.content for entry in self._entries)
        messages = [each.message() if isinstance(each, OpenReply) else each for each in contents]
        return [self._completed(message) if message.role == TOOL else message for message in messages]

    def user(
        self, parts: list[Part], time: str | None, record: int, injected: bool = False, is_turn: bool = False
    ) -> bool:
        """Whether there is anything in it. What a person says begins a turn; `is_turn`: this does, too."""
        return self._add(Message(USER, joined(parts), time=time, injected=injected), record, is_turn or not injected)

    def system(self, parts: list[Part], time: str | None, record: int) -> bool:
        return self._add(Message(SYSTEM, joined(parts), time=time), record)

    def reply(self, time: str | None, record: int, model: str | None) -> OpenReply:
        """The reply that is open, else a new one."""
        if self._open is None:
            self._open = self._last = OpenReply(time, model, usage=self._pending)
            self._pending, self._has_reply = None, True
            self._entries.append(_Entry(record, self._open))
        self._open.model = self._open.model or model
        return self._open

    def close(self) -> None:
        self._open = None

    def call(self, reply: OpenReply, call_id: str | None, name: str, arguments: str) -> bool:
        """Whether the reply does not have it yet."""
        call = ToolCall(call_id or self._new_id(), name, arguments)
        if reply.calls.get(call.id) == call:
            return False
        if call.id in reply.calls:
            call = replace(call, id=self._new_id())
        reply.calls[call.id] = call
        self._names[call.id] = name
        return True

    def is_called(self, call_id: str | None) -> bool:
        return call_id in self._names

    def result(
        self, call_id: str | None, content: str | list[Part], is_error: bool, time: str | None, record: int
    ) -> bool:
        """Whether it is not there yet."""
        name = self._names.get(call_id or "")
        message = Message(TOOL, content, name=name, tool_call_id=call_id, is_error=is_error, time=time)
        known = self._answers.get(call_id or "")
        if known and (known.content, known.is_error) == (content, is_error):
            return False
        if call_id:
            self._answers[call_id] = message
        if not self._is_early:  # then each result stands behind its call, and the other calls of the reply follow
            self._open = None
        self._entries.append(_Entry(record, message))
        return True

    def usage(self, usage: Usage) -> bool:
        """Whether it is of the next reply, or of the last, which is complete with it; false where that has its own."""
        if self._is_early is None:
            self._is_early = not self._has_reply
        if self._is_early:
            self._pending, self._open = usage, None
            return True
        if self._last is None or self._last.usage is not None:
            return False
        self._last.usage = usage
        self._open = None
        return True

    def request(self) -> None:
        """A request begins or ends here."""
        if self._is_early:
            self._open = None

    def compacted(self) -> None:
        """The tokens that came last were of no reply."""
        self._pending = None
        self._is_early = self._is_early if self._has_reply else None

    def last_reply(self) -> OpenReply | None:
        return self._last

    def name_of(self, call_id: str | None) -> str | None:
        return self._names.get(call_id or "")

    def roll_back(self, turns: int) -> int | None:
        """Drop the last turns, with the context that was added for them. Returns the place of the first record."""
        if turns <= 0 or not self._turns:
            return None
        cut, first_turn = self._turns[-min(turns, len(self._turns))], self._turns[0]
        del self._turns[-min(turns, len(self._turns)) :]
        while cut > first_turn and self._is_context(self._entries[cut - 1].content):
            cut -= 1
        first = self._entries[cut].record
        del self._entries[cut:]
        self._last = None
        self._begin_turn()
        return first

    def _add(self, message: Message, record: int, is_turn: bool = False) -> bool:
        if not message.content:
            return False
        self._open = None
        if is_turn:
            self._turns.append(len(self._entries))
            self._begin_turn()
        self._entries.append(_Entry(record, message))
        return True

    def _begin_turn(self) -> None:
        self._open = self._pending = self._is_early = None
        self._has_reply = False

    def _completed(self, result: Message) -> Message:
        failed = result.is_error or result.tool_call_id in self.results.failed
        return replace(result, is_error=failed, subagent=self.results.agents.get(result.tool_call_id or ""))

    def _new_id(self) -> str:
        self._unnamed += 1
        return f"call-{self._unnamed}"

    @staticmethod
    def _is_context(content: Message | OpenReply) -> bool:
        return isinstance(content, Message) and (content.role == SYSTEM or content.injected)
