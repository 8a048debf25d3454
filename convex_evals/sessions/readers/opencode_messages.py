"""The messages of a session of OpenCode, from its messages and their parts.

A message of the agent's holds calls of tools with their results, and in older versions the replies to several requests
of the model, told apart by the parts `step-start` and `step-finish`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import (
    DETAIL,
    MESSAGE,
    OTHER_BRANCH,
    UNREADABLE,
    Conversation,
    RecordCount,
)
from convex_evals.sessions.message import ASSISTANT, SYSTEM, USER, Message, Part, ToolCall
from convex_evals.sessions.readers.opencode_parts import (
    NAME,
    arguments,
    content_of,
    file_of,
    results,
    usage,
    user_content,
)
from convex_evals.sessions.readers.opencode_stored import Stored
from convex_evals.sessions.readers.values import Data, Piece, as_cost, as_object, as_text
from convex_evals.sessions.times import timestamp

# What OpenCode calls a session until the model has named it.
_NO_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z")
# Marks, and what concerns the files of the project. `agent` repeats a mention that stands in the text.
_DETAILS = frozenset(("step-start", "step-finish", "snapshot", "patch", "agent", "compaction", "retry"))


def conversation(stored: Stored) -> Conversation:
    """The conversation that `stored` holds."""
    session = stored.session.value or {}
    reader = _Reader()
    reader.records.count(DETAIL if stored.session.value is not None else UNREADABLE)
    raw, has_reverted = [stored.session.raw], False
    kept = _kept(stored, session.get("revert"))
    for (message, parts), number in zip(stored.messages, kept, strict=True):
        raw += [message.raw, *(part.raw for part in parts)]
        if number is None:
            reader.leave([message, *parts])
        else:
            reader.take(message, parts[:number])
            reader.leave(parts[number:])
        has_reverted = has_reverted or number is None or number < len(parts)
    for kind, other in stored.others:
        raw.append(other.raw)
        if kind == "todos":
            reader.records.count(DETAIL)
        else:
            reader.records.count_unknown(kind)
    title = as_text(session.get("title"))
    return Conversation(
        tool=NAME,
        native_id=stored.id,
        messages=reader.messages,
        raw=raw,
        records=reader.records,
        title=None if title is None or _NO_TITLE.fullmatch(title) else title,
        tool_version=as_text(session.get("version")),
        folder=as_text(session.get("directory")),
        parent=as_text(session.get("parentID")),
        branches=int(has_reverted),
        started_at=timestamp(as_object(session.get("time")).get("created")),
        cost_usd=as_cost(session.get("cost")) or None,
    )


def _kept(stored: Stored, revert: Any) -> list[int | None]:
    """How many parts of each message were not taken back; None where all of the message was."""
    numbers: list[int | None] = [len(parts) for _, parts in stored.messages]
    revert = as_object(revert)
    ids = [(message.value or {}).get("id") for message, _ in stored.messages]
    if not isinstance(revert.get("messageID"), str) or revert["messageID"] not in ids:
        return numbers
    first = ids.index(revert["messageID"])
    numbers[first:] = [None] * (len(numbers) - first)
    parts = [(part.value or {}).get("id") for part in stored.messages[first][1]]
    if revert.get("partID") in parts and revert["partID"] is not None:
        numbers[first] = parts.index(revert["partID"])
    return numbers


@dataclass
class _Reply:
    """One reply of the model, with the results of the tools that it called."""

    texts: list[Part] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    results: list[Message] = field(default_factory=list)
    usage: Usage | None = None
    cost_usd: float | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.texts or self.thinking or self.calls)


class _Reader:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.records = RecordCount()
        self._calls = 0
        self._system: str | None = None

    def leave(self, pieces: list[Piece]) -> None:
        for piece in pieces:
            self.records.count(OTHER_BRANCH if piece.value is not None else UNREADABLE)

    def take(self, message: Piece, parts: list[Piece]) -> None:
        readable = [part.value for part in parts if part.value is not None]
        for _ in range(len(parts) - len(readable)):
            self.records.count(UNREADABLE)
        info = message.value or {}
        before = len(self.messages)
        role = info.get("role")
        if role == USER:
            self._take_user(info, readable)
        elif role == ASSISTANT:
            self._take_assistant(info, readable)
        else:
            for part in readable:
                self.records.count_unknown(f"part:{part.get('type')} of a message without a known role")
        if message.value is None:
            self.records.count(UNREADABLE)
        elif role not in (USER, ASSISTANT):
            self.records.count_unknown(f"message:{role}")
        else:
            self.records.count(MESSAGE if len(self.messages) > before else DETAIL)

    def _take_user(self, info: Data, parts: list[Data]) -> None:
        said: list[Part] = []
        injected: list[Part] = []
        for part in parts:
            content = user_content(part)
            if content is not None:
                (injected if part.get("synthetic") is True else said).append(content)
            self._count(part, content is not None, ("text", "file", "subtask"))
        time = timestamp(as_object(info.get("time")).get("created"))
        system = as_text(info.get("system"))
        if system and system != self._system:
            self._system = system
            self.messages.append(Message(SYSTEM, system, time=time))
        for contents, is_injected in ((said, False), (injected, True)):
            if contents:
                self.messages.append(Message(USER, content_of(contents), injected=is_injected, time=time))

    def _take_assistant(self, info: Data, parts: list[Data]) -> None:
        replies = list(self._replies(parts))
        if replies and not any(part.get("type") == "step-finish" for part in parts):
            # The message has the tokens of its last reply, and the costs of all.
            replies[-1].usage, replies[-1].cost_usd = usage(info.get("tokens")), as_cost(info.get("cost"))
        for reply in replies:
            self.messages.append(
                Message(
                    ASSISTANT,
                    content_of(reply.texts) if reply.texts else None if reply.calls else "",
                    tool_calls=tuple(reply.calls),
                    thinking="\n\n".join(reply.thinking) or None,
                    time=timestamp(as_object(info.get("time")).get("created")),
                    model=as_text(info.get("modelID")),
                    usage=reply.usage,
                    cost_usd=reply.cost_usd,
                )
            )
            self.messages += reply.results

    def _replies(self, parts: list[Data]) -> Iterator[_Reply]:
        reply = _Reply()
        for part in parts:
            kind = part.get("type")
            if kind == "step-start" and not reply.is_empty:
                yield reply
                reply = _Reply()
            self._count(part, self._add(reply, part), ("text", "reasoning", "file", "tool"))
            if kind == "step-finish" and not reply.is_empty:
                reply.usage, reply.cost_usd = usage(part.get("tokens")), as_cost(part.get("cost"))
                yield reply
                reply = _Reply()
        if not reply.is_empty:
            yield reply

    def _add(self, reply: _Reply, part: Data) -> bool:
        kind, text = part.get("type"), as_text(part.get("text"))
        if kind == "reasoning" and text and text.strip():
            reply.thinking.append(text)
        elif kind == "text" and text:
            reply.texts.append({"type": "text", "text": text})
        elif kind == "file":
            reply.texts.append(file_of(part))
        elif kind == "tool":
            self._calls += 1
            call_id = as_text(part.get("callID")) or as_text(part.get("id")) or f"call-{self._calls}"
            call = ToolCall(call_id, as_text(part.get("tool")) or "tool", arguments(as_object(part.get("state"))))
            reply.calls.append(call)
            reply.results += results(call, as_object(part.get("state")))
        else:
            return False
        return True

    def _count(self, part: Data, is_used: bool, kinds: tuple[str, ...]) -> None:
        kind = part.get("type")
        if is_used:
            self.records.count(MESSAGE)
        elif isinstance(kind, str) and (kind in _DETAILS or kind in kinds):
            self.records.count(DETAIL)
        else:
            self.records.count_unknown(f"part:{kind}")
