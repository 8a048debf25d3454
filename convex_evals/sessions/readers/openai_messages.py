"""Messages of OpenAI's chat format. What a message of ours has no place for is kept beside it, to be written again."""

from __future__ import annotations

import json
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.message import ASSISTANT, Message, Part, ToolCall
from convex_evals.sessions.readers.values import Data, as_natural, as_object, as_text

_CALL = frozenset(("id", "type", "function", "index"))
_FUNCTION = frozenset(("name", "arguments"))


def message(data: Data, model: str | None = None) -> Message | None:
    """`data` as a message; None where it does not say whose it is."""
    role = data.get("role")
    if not isinstance(role, str):
        return None
    name, call_id = (value if isinstance(value := data.get(key), str) else None for key in ("name", "tool_call_id"))
    calls = tool_calls(data.get("tool_calls"))
    taken = {"role", "content"}
    for key, value in (("name", name), ("tool_call_id", call_id), ("tool_calls", calls or None)):
        taken |= set() if value is None else {key}
    return Message(
        role,
        _content(data.get("content")),
        name,
        tool_calls=calls,
        tool_call_id=call_id,
        # Not OpenAI's, but of many who have its format.
        thinking=as_text(data.get("reasoning_content")) or as_text(data.get("reasoning")),
        model=model if role == ASSISTANT else None,
        more={key: value for key, value in data.items() if key not in taken},
    )


def is_altered(content: Any) -> bool:
    """Whether a content is none that the format knows, and so not kept to the letter."""
    if isinstance(content, list):
        return not all(isinstance(part, dict) for part in content)
    return content is not None and not isinstance(content, str)


def _content(value: Any) -> str | list[Part] | None:
    if isinstance(value, list):
        return [part if isinstance(part, dict) else {"type": "text", "text": _as_text(part)} for part in value]
    return None if value is None else _as_text(value)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def tool_calls(value: Any) -> tuple[ToolCall, ...]:
    """The calls of a message; none where one of them is not a call of a function and nothing else."""
    if not isinstance(value, list):
        return ()
    calls = tuple(call for each in value if (call := _call(each)) is not None)
    return calls if len(calls) == len(value) else ()


def _call(value: Any) -> ToolCall | None:
    call, function = as_object(value), as_object(as_object(value).get("function"))
    name, call_id, arguments = function.get("name"), call.get("id"), function.get("arguments")
    if not (isinstance(name, str) and isinstance(call_id, str)) or call.get("type", "function") != "function":
        return None
    if call.keys() - _CALL or function.keys() - _FUNCTION:
        return None
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(call_id, name, arguments) if isinstance(arguments, str) else None


def usage(value: Any) -> Usage | None:
    """Of a response, as OpenAI's API tells it."""
    tokens = as_object(value)
    given = as_natural(tokens.get("prompt_tokens")), as_natural(tokens.get("completion_tokens"))
    if not any(given):
        return None
    return Usage(
        input_tokens=given[0],
        output_tokens=given[1],
        cached_tokens=as_natural(as_object(tokens.get("prompt_tokens_details")).get("cached_tokens")),
        reasoning_tokens=as_natural(as_object(tokens.get("completion_tokens_details")).get("reasoning_tokens")),
    )
