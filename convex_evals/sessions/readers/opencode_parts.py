"""What the parts of OpenCode's messages hold."""

from __future__ import annotations

import json
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import session_id
from convex_evals.sessions.message import TOOL, Message, Part, ToolCall, text_of
from convex_evals.sessions.readers.values import Data, as_list, as_natural, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "opencode"


def user_content(part: Data) -> Part | None:
    kind = part.get("type")
    # Text that is ignored is shown to the person alone; a subtask is a command with its own agent.
    text = as_text(part.get("prompt" if kind == "subtask" else "text"))
    if kind in ("text", "subtask") and text and part.get("ignored") is not True:
        return {"type": "text", "text": text}
    return file_of(part) if kind == "file" else None


def file_of(part: Data) -> Part:
    url, mime = as_text(part.get("url")) or "", as_text(part.get("mime")) or ""
    if mime.startswith("image/") and url:
        return {"type": "image_url", "image_url": {"url": url}}
    name = as_text(part.get("filename")) or as_text(as_object(part.get("source")).get("path")) or ""
    return {"type": "file", "file": {"filename": name, **({"file_data": url} if url.startswith("data:") else {})}}


def content_of(parts: list[Part]) -> str | list[Part]:
    return text_of(parts) if all(part["type"] == "text" for part in parts) else parts


def arguments(state: Data) -> str:
    given = state.get("input")
    # While a call is still being written there is its text only.
    if not given and isinstance(state.get("raw"), str) and state["raw"]:
        return str(state["raw"])
    return json.dumps({} if given is None else given, ensure_ascii=False)


def results(call: ToolCall, state: Data) -> list[Message]:
    status, metadata = state.get("status"), as_object(state.get("metadata"))
    if status not in ("completed", "error"):
        return []  # interrupted before there was any
    text = as_text(state.get("output")) or ""
    if status == "error":
        text = as_text(state.get("error")) or as_text(metadata.get("output")) or text
    files = [file_of(each) for each in as_list(state.get("attachments")) if isinstance(each, dict)]
    child = as_text(metadata.get("sessionId"))
    return [
        Message(
            TOOL,
            [{"type": "text", "text": text}, *files] if files else text,
            name=call.name,
            tool_call_id=call.id,
            is_error=status == "error",
            time=timestamp(as_object(state.get("time")).get("end")),
            subagent=session_id(NAME, child) if child else None,
        )
    ]


def usage(tokens: Any) -> Usage | None:
    """Input is told without what was cached, and output without reasoning."""
    tokens = as_object(tokens)
    cache = as_object(tokens.get("cache"))
    read, reasoning = as_natural(cache.get("read")), as_natural(tokens.get("reasoning"))
    found = Usage(
        input_tokens=as_natural(tokens.get("input")) + read + as_natural(cache.get("write")),
        output_tokens=as_natural(tokens.get("output")) + reasoning,
        cached_tokens=read,
        reasoning_tokens=reasoning,
    )
    return found if found.input_tokens or found.output_tokens else None
