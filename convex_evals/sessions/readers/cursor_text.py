"""Conversations with Cursor as text: older transcripts of its agent, and chats that people exported as Markdown.

Neither escapes anything: text that looks like a heading of a message is taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from convex_evals.records.hashes import sha256_text
from convex_evals.sessions.conversation import DETAIL, MESSAGE, UNREADABLE, Conversation, Problems, RecordCount
from convex_evals.sessions.lines import LONGEST_LINE
from convex_evals.sessions.message import ASSISTANT, TOOL, USER, Message, ToolCall
from convex_evals.sessions.readers.aider import text_lines
from convex_evals.sessions.readers.cursor_bubbles import NAME
from convex_evals.sessions.readers.cursor_transcripts import native_id, parent_id, user_messages

_TURNS = {"user:": USER, "assistant:": ASSISTANT}
_MARK = re.compile(r"\[(Thinking|Tool call|Tool result)\](?: (.*))?")
_THINKING, _CALL, _RESULT = "Thinking", "Tool call", "Tool result"
_EXPORTED = re.compile(r"_Exported on .+ from Cursor \((?P<version>[^()]+)\)_\s*")
_SPEAKERS = {"**User**": USER, "**Cursor**": ASSISTANT}
_HEADER_LINES = 10


def text_transcript(file: Path, problems: Problems) -> Conversation | None:
    """The conversation of a `.txt` file. Raises `OSError`."""
    records = RecordCount()
    raw = _lines(file, records, problems)
    reader = _Reader(records)
    for line in raw:
        if line is not None:
            reader.take(line)
    reader.end_block()
    if not any(raw):
        return None
    shown = [line or "" for line in raw]
    return Conversation(NAME, native_id(file), reader.messages, shown, records, parent=parent_id(file))


class _Reader:
    def __init__(self, records: RecordCount) -> None:
        self.messages: list[Message] = []
        self._records = records
        self._role = ""
        self._block = ""  # the mark that began it
        self._name = ""  # of a tool
        self._lines: list[str] = []
        self._is_new = True  # whether the next block of the agent begins a reply
        self._calls = 0
        self._open: list[ToolCall] = []

    def take(self, line: str) -> None:
        mark = _MARK.fullmatch(line) if self._role == ASSISTANT else None
        if line.rstrip() in _TURNS:
            self._begin("", "")
            self._role, self._is_new = _TURNS[line.rstrip()], True
            self._records.count(DETAIL)
        elif mark:
            self._begin(mark[1], mark[2] or "")
            if mark[1] == _THINKING:
                self._lines.append(mark[2] or "")
            else:
                self._records.count(DETAIL)
        else:
            # Arguments are indented, and reasoning is one paragraph; a result lasts until the next mark.
            is_over = bool(line.strip()) and not line.startswith(" ") if self._block == _CALL else not line.strip()
            if self._block in (_CALL, _THINKING) and is_over:
                self._begin("", "")
            self._lines.append(line)

    def _begin(self, block: str, name: str) -> None:
        self.end_block()
        self._block, self._name = block, name.strip()

    def end_block(self) -> None:
        text = "\n".join(self._lines).strip("\n")
        is_used = bool(self._role) and (bool(text.strip()) or self._block in (_CALL, _RESULT))
        if self._lines:
            self._records.count(MESSAGE if is_used else DETAIL, len(self._lines))
        self._lines = []
        if not is_used:
            return
        if self._role == USER:
            self.messages += user_messages(text)
        elif self._block == _RESULT:
            self._add_result(text)
        else:
            self._add_to_reply(text)

    def _add_to_reply(self, text: str) -> None:
        last = Message(ASSISTANT, None) if self._is_new else self.messages.pop()
        self._is_new = False
        if self._block == _CALL:
            self._calls += 1
            call = ToolCall(f"call-{self._calls}", self._name or "tool", re.sub(r"(?m)^  ", "", text))
            self._open.append(call)
            last = replace(last, tool_calls=(*last.tool_calls, call))
        elif self._block == _THINKING:
            last = replace(last, thinking=_joined(last.thinking, text))
        else:
            last = replace(last, content=_joined(last.text, text))
        if last.content is None and not last.tool_calls:
            last = replace(last, content="")
        elif last.content == "" and last.tool_calls:
            last = replace(last, content=None)
        self.messages.append(last)

    def _add_result(self, text: str) -> None:
        call = next((each for each in self._open if each.name == self._name), None)
        if call is not None:
            self._open.remove(call)
        answered = call.id if call else f"call-{self._calls}"
        self.messages.append(Message(TOOL, text, name=self._name or None, tool_call_id=answered))
        self._is_new = True


def exported_chat(file: Path, problems: Problems) -> Conversation | None:
    """The conversation of a Markdown file that Cursor exported. Raises `OSError`."""
    records = RecordCount()
    raw = _lines(file, records, problems)
    lines = [line for line in raw if line is not None]
    header = next((n for n, line in enumerate(lines[:_HEADER_LINES]) if _EXPORTED.fullmatch(line)), None)
    if header is None:
        problems(f"{file}:1: no chat that Cursor exported; skipped")
        return None
    exported = _EXPORTED.fullmatch(lines[header])
    title = lines[header - 1].removeprefix("# ").strip() if header and lines[header - 1].startswith("# ") else ""
    starts = list(_starts(lines, header))
    records.count(DETAIL, starts[0][0] if starts else len(lines))
    messages: list[Message] = []
    ends = [*(start for start, _, _ in starts), len(lines)][1:]
    for (start, behind, role), end in zip(starts, ends, strict=True):
        text = "\n".join(lines[behind:end]).strip("\n")
        # The lines of the heading; then the text, if there is any.
        records.count(DETAIL, behind - start)
        if text.strip():
            records.count(MESSAGE, end - behind)
            messages.append(Message(role, text))
        elif end > behind:
            records.count(DETAIL, end - behind)
    # There is no id. This one stays when the chat goes on and is exported again.
    first = messages[0].text if messages else ""
    return Conversation(
        NAME,
        "export-" + sha256_text(f"{title}\0{first}")[:32],
        messages,
        [line or "" for line in raw],
        records,
        title=title or None,
        tool_version=exported["version"] if exported else None,
    )


def _starts(lines: list[str], header: int) -> Iterator[tuple[int, int, str]]:
    """Where a message's heading begins, where its text does, and whose it is: a rule, an empty line and a name."""
    for number in range(header + 1, len(lines) - 2):
        role = _SPEAKERS.get(lines[number + 2].strip())
        if role and lines[number].strip() == "---" and not lines[number + 1].strip():
            yield number, number + 3, role


def _lines(file: Path, records: RecordCount, problems: Problems) -> list[str | None]:
    lines = list(text_lines(file))
    for number, line in enumerate(lines, 1):
        if line is None:
            problems(f"{file}:{number}: longer than {LONGEST_LINE:,} bytes; left out")
            records.count(UNREADABLE)
    return lines


def _joined(before: str | None, text: str) -> str:
    return f"{before}\n\n{text}" if before else text
