"""One message of a session, as a line of messages.jsonl holds it: a chat message of OpenAI's, and what it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from convex_evals.records.generation import Usage

SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"
_ROLES = {SYSTEM: SYSTEM, "developer": SYSTEM, USER: USER, ASSISTANT: ASSISTANT, TOOL: TOOL, "function": TOOL}
Part = dict[str, Any]  # of OpenAI's: {"type": "text", "text": ...}, {"type": "image_url", "image_url": {"url": ...}}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a model asked a tool to do."""

    id: str
    name: str
    arguments: str  # JSON as the model wrote it, or the text that it wrote instead

    def to_data(self) -> dict[str, Any]:
        return {"id": self.id, "type": "function", "function": {"name": self.name, "arguments": self.arguments}}


@dataclass(frozen=True, slots=True)
class Message:
    """What one side said, in order. Times are RFC 3339 in UTC with milliseconds."""

    role: str  # system, user, assistant or tool; others as an OpenAI-style chat has them
    content: str | list[Part] | None
    name: str | None = None  # of the tool, or of the speaker
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None  # of a tool's message: the call that it answers
    thinking: str | None = None  # what a model showed of its reasoning
    injected: bool = False  # written by the agent and not by the person, under the role of the user
    is_error: bool = False  # of a tool's message: the tool failed
    time: str | None = None
    model: str | None = None
    usage: Usage | None = None  # of the request that brought this reply, once even where it was stored in pieces
    cost_usd: float | None = None  # as the agent recorded it
    subagent: str | None = None  # of a tool's message: id of the session of the agent that did it
    more: dict[str, Any] = field(default_factory=dict)  # other keys of an OpenAI-style message

    @property
    def text(self) -> str:
        """The text of the content, without images and the like."""
        return text_of(self.content)

    @property
    def text_with_calls(self) -> str:
        """The text, and which tools are called, as `NAME(ARGUMENTS)`; empty where there is neither."""
        calls = "\n".join(f"{call.name}({call.arguments})" for call in self.tool_calls)
        return "\n\n".join(filter(None, (self.text, calls)))

    def to_chat(self) -> dict[str, Any]:
        """As OpenAI's chat format has it, without what that format does not know."""
        data: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.name is not None:
            data["name"] = self.name
        if self.tool_calls:
            data["tool_calls"] = [call.to_data() for call in self.tool_calls]
        if self.tool_call_id is not None:
            data["tool_call_id"] = self.tool_call_id
        return {**data, **self.more}

    def to_data(self) -> dict[str, Any]:
        """All of it, as a line of messages.jsonl. What is not said is left out."""
        data = self.to_chat()
        if self.more:
            data = {key: value for key, value in data.items() if key not in self.more}
            data["more"] = self.more
        for key, value in (
            ("thinking", self.thinking),
            ("injected", self.injected or None),
            ("is_error", self.is_error or None),
            ("time", self.time),
            ("model", self.model),
            ("usage", self.usage and self.usage.model_dump(exclude_defaults=True)),
            ("cost_usd", self.cost_usd),
            ("subagent", self.subagent),
        ):
            if value is not None:
                data[key] = value
        return data

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Message:
        """A line of messages.jsonl. Raises `ValueError`, `KeyError` or `TypeError` where it is none."""
        usage = data.get("usage")
        return cls(
            role=_text(data["role"]),
            content=_content(data["content"]),
            name=_optional(data, "name"),
            tool_calls=tuple(_call(call) for call in data.get("tool_calls", ())),
            tool_call_id=_optional(data, "tool_call_id"),
            thinking=_optional(data, "thinking"),
            injected=bool(data.get("injected")),
            is_error=bool(data.get("is_error")),
            time=_optional(data, "time"),
            model=_optional(data, "model"),
            usage=None if usage is None else Usage.model_validate(usage),
            cost_usd=None if data.get("cost_usd") is None else float(data["cost_usd"]),
            subagent=_optional(data, "subagent"),
            more=dict(data.get("more", {})),
        )


def usual_role(message: Message) -> str:
    """Return which of the four roles a message has; agents have others as well."""
    return _ROLES.get(message.role, USER)


def text_of(content: str | Sequence[Part] | None) -> str:
    """The text of a message's content: its parts joined by empty lines, those that are not text left out."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _call(data: dict[str, Any]) -> ToolCall:
    function = data["function"]
    return ToolCall(_text(data["id"]), _text(function["name"]), _text(function["arguments"]))


def _content(value: Any) -> str | list[Part] | None:
    if isinstance(value, list):
        if not all(isinstance(part, dict) for part in value):
            raise ValueError("content: a part is not an object")
        return value
    return None if value is None else _text(value)


def _optional(data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{str(value)[:40]!r} is not text")
    return value
