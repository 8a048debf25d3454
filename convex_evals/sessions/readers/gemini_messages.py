"""The messages of a session of Gemini CLI, from those that it records."""

from __future__ import annotations

import re
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import DETAIL, MESSAGE, REPEATED, UNKNOWN, session_id
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, Message, Part, ToolCall
from convex_evals.sessions.message import USER as PERSON
from convex_evals.sessions.readers.gemini_log import Fate
from convex_evals.sessions.readers.gemini_parts import (
    ERROR,
    GEMINI,
    INFO,
    USER,
    WARNING,
    GeminiContent,
    calls_of,
    compact,
    joined,
    parsed,
    response,
    result_of,
)
from convex_evals.sessions.readers.log_records import LogRecord, Teller
from convex_evals.sessions.readers.values import MOST_TOKENS, Data, as_list, as_natural, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "gemini"
_FAILED = ("error", "cancelled")
# What Gemini CLI writes under the role of the user. A text that begins with one of these is its own:
_NOTICE = re.compile(
    r"\s*(?:<(?:session_context|hook_context|state_snapshot)>|This is the Gemini CLI\. We are setting up the context"
    r"|Here is (?:the user's editor context|a summary of changes in the user's editor context)"
    r"|I ran the following shell command:|User has manually exited Plan Mode|System: Please continue\.)"
)
# Files that a request names are put behind it.
_FILES = re.compile(r"^[ \t]*--- Content from referenced files ---", re.MULTILINE)
_CONTEXT = re.compile(r"\s*(?:<session_context>|This is the Gemini CLI\.)")
_WORKSPACE = re.compile(
    r"(?:\*\*Workspace Directories:\*\*[ \t]*\n[ \t]*- "
    r"|I'm currently working in the (?:directory: |following directories:[ \t]*\n[ \t]*- ))(.+)"
)


class GeminiMessages:
    """Collects the messages of one session."""

    def __init__(self, teller: Teller) -> None:
        self.all: list[Message] = []
        self.workspace: str | None = None  # the folder that the model was told of
        self._teller = teller
        self._tools: dict[str, str] = {}  # names, by ids of calls
        self._answered: set[str] = set()
        self._unnamed = 0

    def take(self, record: LogRecord, value: Data) -> Fate:
        kind = value.get("type")
        if kind == USER:
            return Fate(self._take_user(record, value))
        if kind == GEMINI:
            return Fate(self._take_reply(record, value))
        if kind not in (INFO, WARNING, ERROR):
            return Fate(UNKNOWN, f"message:{kind}")
        content = self._parsed(record, value.get("content"))
        if not content.parts:
            return Fate(DETAIL)
        self.all.append(Message(SYSTEM, joined(content.parts), time=timestamp(value.get("timestamp"))))
        return Fate(MESSAGE)

    def _parsed(self, record: LogRecord, value: Any) -> GeminiContent:
        content = parsed(value)
        self._tell(record, content)
        return content

    def _tell(self, record: LogRecord, content: GeminiContent) -> None:
        for kind in content.unknown:
            self._teller.block(record, kind)

    def _take_user(self, record: LogRecord, value: Data) -> str:
        content, time = self._parsed(record, value.get("content")), timestamp(value.get("timestamp"))
        typed = self._parsed(record, value.get("displayContent"))
        added, said = _divided(content.parts)
        if typed.parts and typed.parts != content.parts:
            # What was sent to the model instead: with files, or of a command.
            said, added = typed.parts, [part for part in content.parts if part not in typed.parts]
        self.workspace = self.workspace or next(filter(None, map(_workspace, added)), None)
        is_new = [self._answer(record, result, time) for result in content.results]
        for parts, injected in ((said, False), (added, True)):
            if parts:
                self.all.append(Message(PERSON, joined(parts), injected=injected, time=time))
        if said or added or any(is_new):
            return MESSAGE
        return REPEATED if content.results else DETAIL

    def _answer(self, record: LogRecord, result: Data, time: str | None) -> bool:
        """Take what answers a call from the message that brought it to the model, unless it stands at the call."""
        call = as_text(result.get("id"))
        if call in self._answered:
            return False
        content = response(result)
        self._tell(record, content)
        name = self._tools.get(call or "") or as_text(result.get("name"))
        is_error = as_object(result.get("response")).get("error") is not None
        self._add_result(Message(TOOL, joined(content.parts), name, tool_call_id=call, is_error=is_error, time=time))
        return True

    def _add_result(self, message: Message) -> None:
        self.all.append(message)
        if message.tool_call_id:
            self._answered.add(message.tool_call_id)

    def _take_reply(self, record: LogRecord, value: Data) -> str:
        content = self._parsed(record, value.get("content"))
        recorded = calls_of(content, as_list(value.get("toolCalls")))
        calls = [(self._call(call), call) for call in recorded]
        thoughts = [text for thought in as_list(value.get("thoughts")) if (text := _thought(thought))]
        usage = _usage(value.get("tokens"))
        if not (content.parts or calls or thoughts or content.thinking or usage):
            return DETAIL
        self.all.append(
            Message(
                ASSISTANT,
                None if calls and not content.parts else joined(content.parts),
                tool_calls=tuple(call for call, _ in calls),
                thinking="\n\n".join(thoughts or content.thinking) or None,
                time=timestamp(value.get("timestamp")),
                model=as_text(value.get("model")),
                usage=usage,
            )
        )
        for call, data in calls:
            self._take_result(record, call, data)
        return MESSAGE

    def _call(self, data: Data) -> ToolCall:
        self._unnamed += 1
        name = as_text(data.get("name")) or "tool"
        call_id = as_text(data.get("id")) or f"call-{self._unnamed}"
        self._tools[call_id] = name
        given = data.get("args")
        return ToolCall(call_id, name, given if isinstance(given, str) else compact({} if given is None else given))

    def _take_result(self, record: LogRecord, call: ToolCall, data: Data) -> None:
        content = result_of(data.get("result"), call.id)
        self._tell(record, content)
        shown = data.get("resultDisplay")
        if not content.parts and isinstance(shown, str) and shown:
            content.parts.append({"type": "text", "text": shown})
        is_error = data.get("status") in _FAILED
        if not (content.parts or data.get("result") or is_error):
            return  # interrupted before there was any
        agent = as_text(data.get("agentId"))
        self._add_result(
            Message(
                TOOL,
                joined(content.parts),
                call.name,
                tool_call_id=call.id,
                is_error=is_error,
                time=timestamp(data.get("timestamp")),
                subagent=session_id(NAME, agent) if agent else None,
            )
        )


def _divided(parts: list[Part]) -> tuple[list[Part], list[Part]]:
    """What Gemini CLI wrote under the role of the user, and what the person did."""
    added: list[Part] = []
    said: list[Part] = []
    has_files = False
    for part in parts:
        text = part.get("text") if part.get("type") == "text" else None
        files = _FILES.search(text) if isinstance(text, str) else None
        if has_files or (isinstance(text, str) and _NOTICE.match(text)):
            added.append(part)
        elif files and isinstance(text, str):
            has_files = True
            before = text[: files.start()].rstrip()
            said += [{"type": "text", "text": before}] if before else []
            added.append({"type": "text", "text": text[files.start() :]})
        else:
            said.append(part)
    return added, said


def _workspace(part: Part) -> str | None:
    """The folder that the model was told of, where this is what it was told of its surroundings."""
    text = part.get("text")
    if not isinstance(text, str) or not _CONTEXT.match(text):
        return None
    found = _WORKSPACE.search(text)
    return found[1].strip() or None if found else None


def _thought(value: Any) -> str | None:
    thought = as_object(value)
    subject, description = as_text(thought.get("subject")), as_text(thought.get("description"))
    return " ".join(filter(None, (f"**{subject}**" if subject else None, description))) or None


def _usage(value: Any) -> Usage | None:
    """Tokens of thoughts are beside those of the reply, and those of tools beside those of the prompt."""
    tokens = as_object(value)
    given = {name: as_natural(tokens.get(name)) for name in ("input", "output", "cached", "thoughts", "tool")}
    if not any(given.values()):
        return None
    return Usage(
        input_tokens=min(given["input"] + given["tool"], MOST_TOKENS),
        output_tokens=min(given["output"] + given["thoughts"], MOST_TOKENS),
        cached_tokens=given["cached"],
        reasoning_tokens=given["thoughts"],
    )
