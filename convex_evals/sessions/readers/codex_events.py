"""What events in Codex's rollouts say of the conversation besides its items."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from convex_evals.sessions.message import ASSISTANT, USER
from convex_evals.sessions.readers.codex_items import parts_of, texts_of
from convex_evals.sessions.readers.values import Data, as_object, as_text

THINKING = "thinking"
_BLANKS = re.compile(r"\s+")
_MOST_PARTS = 1000
# Codex takes these out of what it shows of a reply.
_TAGGED = re.compile(r"<(proposed_plan|oai-mem-citation)>(.*?)</\1>", re.DOTALL)


class Said:
    """The texts of items, that events repeat with other blanks and in other pieces."""

    def __init__(self, items: Iterable[Data]) -> None:
        self._texts: dict[str, set[int]] = {USER: set(), ASSISTANT: set(), THINKING: set()}
        self._added: list[str] = []
        for item in items:
            if item.get("type") == "message":
                self._take_message(item)
            elif item.get("type") == "reasoning":
                for key in ("summary", "content"):
                    self._add(THINKING, texts_of(item.get(key)))

    def has(self, role: str, text: str) -> bool:
        return _key(text) in self._texts[role]

    def is_added(self, text: str | None) -> bool:
        """Whether a text is part of what was added under the role of the user early on."""
        return text is not None and any(text.strip() in each for each in self._added)

    def _take_message(self, item: Data) -> None:
        role = item.get("role")
        if role not in (USER, ASSISTANT):
            return
        parts = parts_of(item.get("content"), lambda kind: None) or []
        texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        self._add(role, texts)
        for text in texts if role == ASSISTANT else ():
            self._add(role, [*(match[2] for match in _TAGGED.finditer(text)), _TAGGED.sub("", text)])
        if role == USER and len(self._added) < 10:
            self._added += texts

    def _add(self, role: str, texts: list[str]) -> None:
        self._texts[role].update(map(_key, texts))
        if 1 < len(texts) <= _MOST_PARTS:
            self._texts[role].add(_key("".join(texts)))


def texts_of_event(event: Data) -> tuple[str, list[str]] | None:
    """The role and the texts of an event that says something; None where it is of another kind."""
    kind = event.get("type")
    if kind == "user_message":
        return USER, texts_of(event.get("message"))
    if kind == "agent_message":
        return ASSISTANT, texts_of(event.get("message"))
    if kind in ("agent_reasoning", "agent_reasoning_raw_content"):
        return THINKING, texts_of(event.get("text"))
    if kind == "item_completed":
        return _of_item(as_object(event.get("item")))
    return None


def _of_item(item: Data) -> tuple[str, list[str]] | None:
    kind = _name(item.get("type"))
    if kind == "usermessage":
        return USER, texts_of(item.get("content"))
    if kind == "agentmessage":
        return ASSISTANT, texts_of(item.get("content"))
    if kind == "plan":
        return ASSISTANT, texts_of(item.get("text"))
    if kind == "reasoning":
        return THINKING, texts_of(item.get("summary_text"))
    return None


def failed_call(event: Data) -> str | None:
    """The call that an event says has failed."""
    kind, result = event.get("type"), as_object(event.get("result"))
    code = event.get("exit_code")
    has_failed = (
        (kind == "exec_command_end" and isinstance(code, int) and code != 0)
        or (kind == "patch_apply_end" and event.get("success") is False)
        or (kind == "mcp_tool_call_end" and ("Err" in result or as_object(result.get("Ok")).get("isError") is True))
    )
    return as_text(event.get("call_id")) if has_failed else None


def started_agent(event: Data) -> tuple[str, str] | None:
    """The call that started an agent, and the agent's thread."""
    kind = event.get("type")
    if kind == "collab_agent_spawn_end":
        call, thread = as_text(event.get("call_id")), as_text(event.get("new_thread_id"))
    elif kind == "sub_agent_activity" and event.get("kind") == "started":
        call, thread = as_text(event.get("event_id")), as_text(event.get("agent_thread_id"))
    else:
        return None
    return (call, thread) if call and thread else None


def _name(kind: Any) -> str:
    """UserMessage and user_message alike."""
    return str(kind).replace("_", "").lower()


def _key(text: str) -> int:
    return hash(_BLANKS.sub("", text))
