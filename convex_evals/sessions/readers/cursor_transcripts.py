"""Transcripts of Cursor's agent, a record a line: what was said and which tools were called, but not what they brought.

Records have neither times, nor models, nor ids.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from convex_evals.sessions.conversation import DETAIL, MESSAGE, UNREADABLE, Conversation, Problems, RecordCount
from convex_evals.sessions.lines import json_lines
from convex_evals.sessions.message import ASSISTANT, TOOL, USER, Message, ToolCall
from convex_evals.sessions.readers.cursor_bubbles import NAME
from convex_evals.sessions.readers.values import Data, Piece, as_list, as_object, as_text, piece

# What Cursor writes into the same message as what the person said, of which a part is put into `user_query`.
_QUERY = re.compile(r"<user_query>\n?(.*)\n?</user_query>", re.DOTALL)
_TAG = re.compile(r"\s*<([a-z_]+)(?: [^<>]*)?>")
_ADDED = (
    *("additional_data", "agent_skills", "agent_transcripts", "attached_files", "cursor_commands", "external_links"),
    *("git_status", "image_files", "manually_attached_skills", "mcp_file_system", "mcp_instructions"),
    *("open_and_recently_viewed_files", "project_layout", "rules", "system_notification", "system_reminder"),
    *("timestamp", "user_info"),
)
_SUBAGENTS = "subagents"


def transcript(file: Path, problems: Problems) -> Conversation | None:
    """The conversation of a `.jsonl` file. Raises `OSError`."""
    reader = _Reader()
    raw: list[str] = []
    for line in json_lines(file):
        if line.problem:
            became = "kept as text" if line.text else "left out"
            problems(f"{file}:{line.number}: {line.problem}; {became}")
        record = Piece(line.text, None) if line.problem else piece(line.value)
        raw.append(line.text)
        reader.take(record)
    if not raw:
        return None
    return Conversation(NAME, native_id(file), reader.messages, raw, reader.records, parent=parent_id(file))


def native_id(file: Path) -> str:
    """The id of a transcript's conversation; exports have it as the name of their folder."""
    return file.absolute().parent.name if file.stem == "transcript" else file.stem


def parent_id(file: Path) -> str | None:
    folder = file.absolute().parent
    return folder.parent.name if folder.name == _SUBAGENTS else None


def user_messages(text: str) -> list[Message]:
    """What the person said and, before it, what Cursor added."""
    query = _QUERY.search(text)
    if query is None:
        return [Message(USER, text, injected=_is_added(text))] if text.strip() else []
    added = (text[: query.start()].rstrip() + "\n\n" + text[query.end() :].lstrip()).strip()
    said = query[1].strip("\n")
    found = [Message(USER, added, injected=True)] if added else []
    return [*found, Message(USER, said)] if said.strip() else found


def _is_added(text: str) -> bool:
    """Whether all of `text` is in tags that Cursor adds; what a person pastes may be in tags, too."""
    at = 0
    while (tag := _TAG.match(text, at)) and tag[1] in _ADDED:
        end = text.find(f"</{tag[1]}>", tag.end())
        if end < 0:
            break
        at = end + len(tag[1]) + 3
    return at > 0 and not text[at:].strip()


class _Reader:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.records = RecordCount()
        self._calls = 0
        self._open: list[ToolCall] = []  # whose results are not there yet

    def take(self, record: Piece) -> None:
        if record.value is None:
            self.records.count(UNREADABLE)
            return
        role, kind = record.value.get("role"), record.value.get("type")
        if role not in (USER, ASSISTANT, TOOL):
            if role is None and kind == "turn_ended":
                self.records.count(DETAIL)
            else:
                self.records.count_unknown(str(kind if role is None else f"role:{role}"))
            return
        message = record.value.get("message")
        content = as_object(message).get("content") if isinstance(message, dict) else message
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
        before = len(self.messages)
        unknown = self._take_blocks(role, [as_object(block) for block in blocks])
        if len(self.messages) > before:
            self.records.count(MESSAGE)
        elif unknown:
            self.records.count_unknown(f"block:{unknown[0]}")
        else:
            self.records.count(DETAIL)

    def _take_blocks(self, role: str, blocks: list[Data]) -> list[str]:
        """Add the messages of one record. Returns the kinds of blocks that are not known."""
        texts, thinking, calls, unknown = [], [], [], []
        for block in blocks:
            kind, text = block.get("type"), as_text(block.get("text"))
            if kind == "text":
                texts.append(text or "")
            elif kind in ("thinking", "reasoning"):
                thinking.append(text or as_text(block.get("thinking")) or "")
            elif kind == "tool_use":
                calls.append(self._call(block))
            elif kind == "tool_result":
                self.messages.append(self._result(block))
            else:
                unknown.append(str(kind))
        text = "\n\n".join(filter(None, texts))
        if role == USER:
            self.messages += user_messages(text)
        elif text.strip() or calls or any(thinking):
            shown = "\n\n".join(filter(None, thinking)) or None
            self.messages.append(
                Message(ASSISTANT, text or (None if calls else ""), tool_calls=tuple(calls), thinking=shown)
            )
        return unknown

    def _call(self, block: Data) -> ToolCall:
        self._calls += 1
        given = block.get("input")
        arguments = given if isinstance(given, str) else json.dumps({} if given is None else given, ensure_ascii=False)
        call = ToolCall(
            as_text(block.get("id")) or f"call-{self._calls}", as_text(block.get("name")) or "tool", arguments
        )
        self._open.append(call)
        return call

    def _result(self, block: Data) -> Message:
        named = block.get("tool_use_id")
        call = next((each for each in self._open if each.id == named or named is None), None)
        if call is not None:
            self._open.remove(call)
        return Message(
            TOOL,
            _text(block.get("content")),
            name=call.name if call else None,
            tool_call_id=call.id if call else as_text(named) or f"call-{self._calls}",
            is_error=block.get("is_error") is True,
        )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n\n".join(filter(None, (as_text(as_object(each).get("text")) for each in content)))
    return content if isinstance(content, str) else "" if content is None else json.dumps(content, ensure_ascii=False)
