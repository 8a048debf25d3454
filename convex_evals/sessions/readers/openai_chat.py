"""Chats in OpenAI's format: one a line, as fine-tuning takes them and an export writes them, or documents of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from convex_evals.records.hashes import sha256_text
from convex_evals.sessions.conversation import DETAIL, MESSAGE, UNREADABLE, Conversation, Problems, RecordCount
from convex_evals.sessions.message import ASSISTANT, Message
from convex_evals.sessions.readers.openai_files import conversation_files, json_values, raw
from convex_evals.sessions.readers.openai_messages import is_altered, message, usage
from convex_evals.sessions.readers.values import Data, as_text
from convex_evals.sessions.times import timestamp

NAME = "openai"
_IDS = ("id", "conversation_id", "session_id")
_TIMES = ("created_at", "created", "timestamp")


class OpenAIChat:
    """The reader `openai`."""

    name = NAME

    def places(self, home: Path) -> Sequence[Path]:
        return ()

    def files(self, place: Path) -> Iterator[Path]:
        yield from conversation_files(place)

    def read(self, file: Path, problems: Problems) -> Iterator[Conversation]:
        reader = _Reader(problems)
        for line in json_values(file, problems):
            where = f"{file}:{line.number}"
            if line.problem:
                records = RecordCount()
                records.count(UNREADABLE)
                yield Conversation(NAME, sha256_text(line.text), [], [line.text], records)
            elif _is_list_of_chats(line.value):
                for number, chat in enumerate(line.value, 1):
                    yield reader.conversation(f"{where}: conversation {number}", chat, raw(chat))
            else:
                yield reader.conversation(where, line.value, line.text)


def _is_list_of_chats(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(chat, dict) and _has_messages(chat) for chat in value)


def _has_messages(chat: Data) -> bool:
    return isinstance(chat.get("messages"), list)


class _Reader:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._hashes: dict[str, str] = {}  # of messages, by the ids of conversations

    def conversation(self, where: str, value: Any, text: str) -> Conversation:
        records = RecordCount()
        chat: Data = {"messages": value} if _is_list_of_messages(value) else value if isinstance(value, dict) else {}
        if not _has_messages(chat):
            kind = f"keys {', '.join(sorted(chat)[:5])}" if chat else "(no object)"
            self._problems(f"{where}: no messages ({kind[:60]!r}); no conversation")
            records.count_unknown(kind)
            return Conversation(NAME, sha256_text(text), [], [text], records)
        messages = self._messages(where, chat)
        if messages or not chat["messages"]:
            records.count(MESSAGE if messages else DETAIL)
        else:
            records.count_unknown("messages without roles")
        return Conversation(
            NAME,
            self._native_id(where, chat),
            messages,
            [text],
            records,
            title=as_text(chat.get("title")),
            started_at=next((time for key in _TIMES if (time := timestamp(chat.get(key)))), None),
        )

    def _messages(self, where: str, chat: Data) -> list[Message]:
        found: list[Message] = []
        model = as_text(chat.get("model"))
        for number, data in enumerate(chat["messages"], 1):
            one = message(data, model) if isinstance(data, dict) else None
            if one is None:
                self._problems(f"{where}: message {number} has no role; kept in the raw record only")
                continue
            if is_altered(data.get("content")):
                self._problems(f"{where}: content of message {number} is neither text nor parts; kept as text")
            found.append(one)
        last = next((at for at in range(len(found) - 1, -1, -1) if found[at].role == ASSISTANT), None)
        if last is not None:
            found[last] = replace(found[last], usage=usage(chat.get("usage")))
        return found

    def _native_id(self, where: str, chat: Data) -> str:
        """The chat's own id, else what tells its messages from others'."""
        text = json.dumps(chat["messages"], ensure_ascii=False, sort_keys=True)
        found = sha256_text(text)
        given = next((_id(chat[key]) for key in _IDS if _id(chat.get(key))), None)
        if given is None:
            return found
        if self._hashes.setdefault(given, found) != found:
            self._problems(f"{where}: has the id of an earlier conversation in the file; told from it by its messages")
            return found
        return given


def _is_list_of_messages(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, dict) and "role" in each for each in value)


def _id(value: Any) -> str | None:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else as_text(value)


READER = OpenAIChat()
