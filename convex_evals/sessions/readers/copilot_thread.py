"""What one agent of a session of GitHub Copilot CLI was asked, said and did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import DETAIL, MESSAGE, OTHER_BRANCH, REPEATED, UNKNOWN, RecordCount
from convex_evals.sessions.message import Message, Part
from convex_evals.sessions.readers import copilot_events as events
from convex_evals.sessions.readers.codex_messages import CodexMessages
from convex_evals.sessions.readers.log_records import LogRecord, Teller
from convex_evals.sessions.readers.values import Data, as_natural, as_object, as_text
from convex_evals.sessions.times import timestamp

# Texts that the agent adds to the conversation, and the keys of them.
_ADDED = {
    "session.compaction_complete": "summaryContent",
    "session.handoff": "summary",
    "system.notification": "content",
}


@dataclass(slots=True)
class _Streamed:
    """A reply of which only pieces are there, as the agent was stopped."""

    part: Part
    pieces: list[str] = field(default_factory=list)


class CopilotThread:
    """Reads the records of one agent.

    `removed`: ids of the events that were taken back, with the number of the time. `agents`: sessions of the agents
    that calls started, by ids of calls.
    """

    def __init__(
        self,
        records: Sequence[LogRecord],
        teller: Teller,
        removed: dict[str, int],
        agents: dict[str, str],
        is_main: bool,
    ) -> None:
        self.raw = [record.text for record in records]
        self.count = RecordCount()
        self._teller = teller
        self._is_main = is_main
        self._messages = CodexMessages()
        self._messages.results.agents = agents
        self._model: str | None = None
        self._system: list[Part] = []
        self._streamed: dict[str, _Streamed] = {}
        self._is_unfinished = False  # whether the last reply has nothing but thinking
        self._turn: str | None = None  # of a reply that is unfinished
        datas = [_data(record) for record in records]
        self._whole = {
            as_text(data.get("messageId")) for data, record in zip(datas, records, strict=True) if _is_reply(record)
        }
        self._thinking = {as_text(data.get("reasoningText")) for data in datas}
        self._has_skills = any(str(data.get("source")).startswith("skill") for data in datas)
        self._read(records, removed)

    def messages(self) -> list[Message]:
        for streamed in self._streamed.values():
            streamed.part["text"] = "".join(streamed.pieces)
        return self._messages.all()

    def _read(self, records: Sequence[LogRecord], removed: dict[str, int]) -> None:
        self.branches = len({removed[name] for record in records if (name := record.text_at("id")) in removed})
        seen: set[str] = set()
        for at, record in enumerate(records):
            name = record.text_at("id")
            if record.fault == UNKNOWN:
                self.count.count_unknown("(no object)")
            elif record.fault:
                self.count.count(record.fault)
            elif name in seen:
                self.count.count(REPEATED)
            elif name in removed:
                self.count.count(OTHER_BRANCH)
            else:
                self._count(record, self._take(record, at))
            seen.update((name,) if name else ())

    def _count(self, record: LogRecord, fate: str | None) -> None:
        if fate is None or fate == UNKNOWN:
            self.count.count_unknown(record.kind if fate else f"{record.kind} without content")
        else:
            self.count.count(fate)

    def _take(self, record: LogRecord, at: int) -> str | None:
        """The fate of a record; None where it has no content that could be read."""
        kind, data = record.kind, _data(record)
        if kind == "user.message":
            return self._request(data, record, at)
        if kind == "system.message":
            return self._instructions(data, record, at)
        if kind == "assistant.message":
            return self._reply(data, record, at)
        if kind == "assistant.message_delta":
            return self._stream(data, record, at)
        if kind == "assistant.reasoning":
            return self._think(data, record, at)
        if kind == "assistant.usage":
            return self._usage(data)
        if kind in ("tool.user_requested", "tool.execution_start"):
            return self._start(data, record, at)
        if kind == "tool.execution_complete":
            return self._complete(data, record, at)
        return self._other(kind, data, record, at)

    def _other(self, kind: str, data: Data, record: LogRecord, at: int) -> str:
        if kind in _ADDED or (kind == "skill.invoked" and not self._has_skills):
            return self._add(events.texts(data.get(_ADDED.get(kind, "content"))), record, at)
        if kind in ("session.start", "session.resume"):
            self._model = as_text(data.get("selectedModel")) or self._model
        elif kind == "session.model_change":
            self._model = as_text(data.get("newModel")) or self._model
        elif kind in events.PIECES:
            return REPEATED
        elif kind not in events.DETAILS and kind != "skill.invoked":
            return UNKNOWN
        return DETAIL

    def _add(self, parts: list[Part], record: LogRecord, at: int) -> str:
        return MESSAGE if self._messages.user(parts, _time(record), at, injected=True) else DETAIL

    def _request(self, data: Data, record: LogRecord, at: int) -> str | None:
        """A person's request; in a sub-agent's conversation that of the agent that started it."""
        parts = events.request_of(data)
        if parts is None:
            return None
        is_agents = not self._is_main and str(data.get("source")).startswith("agent-")
        if events.is_added(data) and not is_agents:
            return self._add(parts, record, at)
        return MESSAGE if self._messages.user(parts, _time(record), at) else DETAIL

    def _instructions(self, data: Data, record: LogRecord, at: int) -> str | None:
        if not isinstance(data.get("content"), str):
            return None
        parts = events.texts(data["content"])
        if parts and parts == self._system:  # they are said with each request
            return REPEATED
        self._system = parts
        return MESSAGE if self._messages.system(parts, _time(record), at) else DETAIL

    def _reply(self, data: Data, record: LogRecord, at: int) -> str | None:
        content = data.get("content")
        parts, calls, thinking = events.texts(content), events.calls_of(data), as_text(data.get("reasoningText"))
        written = as_natural(data.get("outputTokens"))
        if not (parts or calls or thinking):
            return DETAIL if isinstance(content, str) or content is None else None
        turn = as_text(data.get("turnId"))
        if not (self._is_unfinished and self._turn in (None, turn)):
            self._messages.close()
        reply = self._messages.reply(_time(record), at, as_text(data.get("model")) or self._model)
        reply.parts += parts
        reply.thinking += [thinking] if thinking else []
        for call in calls:
            self._messages.call(reply, *call)
        if written:
            before = reply.usage.output_tokens if reply.usage else 0
            reply.usage = Usage(output_tokens=before + written)
        self._is_unfinished, self._turn = not (parts or calls), turn
        return MESSAGE

    def _think(self, data: Data, record: LogRecord, at: int) -> str:
        text = as_text(data.get("content"))
        if text is None or text in self._thinking:
            return REPEATED if text else DETAIL
        if not self._is_unfinished:
            self._messages.close()
        self._messages.reply(_time(record), at, self._model).thinking.append(text)
        self._is_unfinished, self._turn = True, None
        return MESSAGE

    def _stream(self, data: Data, record: LogRecord, at: int) -> str:
        name, text = as_text(data.get("messageId")) or "", as_text(data.get("deltaContent"))
        if name in self._whole or not text:
            return REPEATED
        if name not in self._streamed:
            if not self._is_unfinished:
                self._messages.close()
            self._streamed[name] = _Streamed({"type": "text", "text": text})
            self._messages.reply(_time(record), at, self._model).parts.append(self._streamed[name].part)
            self._is_unfinished = False
        self._streamed[name].pieces.append(text)
        return MESSAGE

    def _usage(self, data: Data) -> str:
        """Tokens of the request before, of which the reply itself has only those that were written."""
        found, reply = events.usage_of(data), self._messages.last_reply()
        if found and reply and not (reply.usage and reply.usage.input_tokens):
            reply.usage = found
            reply.model = reply.model or as_text(data.get("model"))
        return DETAIL

    def _start(self, data: Data, record: LogRecord, at: int) -> str:
        """A call that no reply tells of: the person's own, or of an agent of another version."""
        call, is_persons = as_text(data.get("toolCallId")), record.kind == "tool.user_requested"
        if self._messages.is_called(call):
            return REPEATED
        if is_persons:
            self._messages.close()
        reply = self._messages.reply(_time(record), at, None if is_persons else self._model)
        self._messages.call(reply, call, *events.call_of(data, "toolName"))
        self._is_unfinished = False
        return MESSAGE

    def _complete(self, data: Data, record: LogRecord, at: int) -> str:
        call, reply = as_text(data.get("toolCallId")), self._messages.last_reply()
        if reply and call in reply.calls:
            reply.model = reply.model or as_text(data.get("model"))
        found = events.result_of(data, lambda kind: self._teller.block(record, kind))
        return MESSAGE if self._messages.result(call, *found, _time(record), at) else REPEATED


def _data(record: LogRecord) -> Data:
    return as_object(record.value.get("data"))


def _time(record: LogRecord) -> str | None:
    return timestamp(record.value.get("timestamp"))


def _is_reply(record: LogRecord) -> bool:
    return record.kind == "assistant.message"
