"""The messages of a conversation in Cursor's database. A reply of the agent takes several bubbles."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote, urlsplit

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import (
    DETAIL,
    MESSAGE,
    OTHER_BRANCH,
    REPEATED,
    UNREADABLE,
    Conversation,
    RecordCount,
)
from convex_evals.sessions.message import ASSISTANT, TOOL, USER, Message, ToolCall
from convex_evals.sessions.readers.cursor_database import Composer, parent_of
from convex_evals.sessions.readers.values import Data, Piece, as_cost, as_list, as_natural, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "cursor"
_USER, _ASSISTANT = 1, 2
_CALL_FAILED = ("error", "failed")


def conversation(composer: Composer) -> Conversation:
    """The conversation of a row of Cursor's database and its bubbles."""
    data = composer.record.value or {}
    reader = _Reader(as_text(as_object(data.get("modelConfig")).get("modelName")))
    reader.records.count(DETAIL if composer.record.value is not None else UNREADABLE)
    for bubble in composer.bubbles:
        reader.take(bubble)
    reader.end_thinking()
    for bubble in composer.left:
        reader.records.count(OTHER_BRANCH if bubble.value is not None else UNREADABLE)
    for _ in composer.repeated:
        reader.records.count(REPEATED)
    branch = as_object(next(iter(as_list(_first(data.get("trackedGitRepos")).get("branches"))), None))
    return Conversation(
        tool=NAME,
        native_id=composer.id,
        messages=reader.messages,
        raw=[piece.raw for piece in (composer.record, *composer.bubbles, *composer.left, *composer.repeated)],
        records=reader.records,
        title=as_text(data.get("name")),
        folder=_folder(data, composer.bubbles),
        git_branch=as_text(branch.get("branchName")),
        parent=parent_of(data),
        branches=int(any(bubble.value is not None for bubble in composer.left)),
        started_at=timestamp(data.get("createdAt")),
        cost_usd=_cost(data),
    )


class _Reader:
    def __init__(self, model: str | None) -> None:
        self.messages: list[Message] = []
        self.records = RecordCount()
        self._model = model
        self._thinking: list[str] = []
        self._calls = 0

    def take(self, piece: Piece) -> None:
        if piece.value is None:
            self.records.count(UNREADABLE)
            return
        kind = piece.value.get("type")
        if kind == _USER:
            self.end_thinking()
            text = _said(piece.value)
            if text is not None:
                self.messages.append(Message(USER, text, time=_time(piece.value)))
            self.records.count(DETAIL if text is None else MESSAGE)
        elif kind == _ASSISTANT:
            self.records.count(MESSAGE if self._take_reply(piece.value) else DETAIL)
        else:
            self.records.count_unknown(f"bubble:{kind}")

    def end_thinking(self) -> None:
        """Put reasoning that no text and no call follows into a message of its own."""
        if self._thinking:
            self.messages.append(Message(ASSISTANT, "", thinking=self._taken_thinking(), model=self._model))

    def _taken_thinking(self) -> str | None:
        thinking, self._thinking = "\n\n".join(self._thinking) or None, []
        return thinking

    def _take_reply(self, bubble: Data) -> bool:
        """Whether there is anything in the bubble."""
        thought = _thinking(bubble)
        if thought:
            self._thinking.append(thought)
        text, tool = _said(bubble), as_object(bubble.get("toolFormerData"))
        has_call = any(tool.get(key) for key in ("name", "tool", "rawArgs", "params", "toolCallId"))
        if text is None and not has_call:
            return thought is not None
        call = self._call(tool) if has_call else None
        self.messages.append(
            Message(
                ASSISTANT,
                text,
                tool_calls=(call,) if call else (),
                thinking=self._taken_thinking(),
                time=_time(bubble),
                model=as_text(as_object(bubble.get("modelInfo")).get("modelName")) or self._model,
                usage=_usage(bubble.get("tokenCount")),
            )
        )
        result = _result(tool, call, _time(bubble)) if call else None
        if result is not None:
            self.messages.append(result)
        return True

    def _call(self, tool: Data) -> ToolCall:
        self._calls += 1
        name = as_text(tool.get("name")) or f"tool-{tool.get('tool')}"
        return ToolCall(
            as_text(tool.get("toolCallId")) or f"call-{self._calls}",
            name,
            _json(tool.get("rawArgs")) or _json(tool.get("params")) or "{}",
        )


def _result(tool: Data, call: ToolCall, time: str | None) -> Message | None:
    """What the tool brought; nothing where it is not recorded, or where the person declined the call."""
    text = _json(tool.get("result")) or _json(tool.get("error"))
    is_error = tool.get("status") in _CALL_FAILED or bool(tool.get("error") and not tool.get("result"))
    if not text and not is_error:
        return None
    return Message(TOOL, text or "", name=call.name, tool_call_id=call.id, is_error=is_error, time=time)


def _json(value: Any) -> str | None:
    """Text as it is, since Cursor keeps JSON as text here; other values as JSON."""
    if isinstance(value, str) or not value:
        return value or None
    return json.dumps(value, ensure_ascii=False)


def _said(bubble: Data) -> str | None:
    text = as_text(bubble.get("text"))
    return text if text and text.strip() else _rich_text(bubble.get("richText"))


def _rich_text(value: Any) -> str | None:
    """The text of the editor's own document, a line for each paragraph."""
    try:
        document = json.loads(value) if isinstance(value, str) else value
        lines: list[str] = [""]
        _collect(as_object(document).get("root"), lines)
    except (ValueError, RecursionError):
        return None
    text = "\n".join(lines).strip("\n")
    return text if text.strip() else None


def _collect(node: Any, lines: list[str]) -> None:
    node = as_object(node)
    if isinstance(node.get("text"), str):
        lines[-1] += node["text"]
    if node.get("type") in ("linebreak", "paragraph") and lines[-1]:
        lines.append("")
    for child in as_list(node.get("children")):
        _collect(child, lines)


def _thinking(bubble: Data) -> str | None:
    thinking = bubble.get("thinking")
    text = as_text(thinking) or as_text(as_object(thinking).get("text"))
    if text is None:
        blocks = [as_object(each) for each in as_list(bubble.get("allThinkingBlocks"))]
        text = "\n\n".join(filter(None, (as_text(each.get("text")) for each in blocks)))
    return text if text and text.strip() else None


def _time(bubble: Data) -> str | None:
    return timestamp(bubble.get("createdAt")) or timestamp(as_object(bubble.get("timingInfo")).get("clientStartTime"))


def _usage(value: Any) -> Usage | None:
    tokens = as_object(value)
    usage = Usage(
        input_tokens=as_natural(tokens.get("inputTokens")), output_tokens=as_natural(tokens.get("outputTokens"))
    )
    return usage if usage.input_tokens or usage.output_tokens else None


def _cost(data: Data) -> float | None:
    cents = [as_cost(as_object(each).get("costInCents")) for each in as_object(data.get("usageData")).values()]
    return sum(each for each in cents if each is not None) / 100 or None


def _folder(data: Data, bubbles: list[Piece]) -> str | None:
    uri = as_object(data.get("workspaceIdentifier")).get("uri")
    if path := as_text(as_object(uri).get("fsPath")) or as_text(as_object(uri).get("path")):
        return path
    for place in (uri, *(next(iter(as_list((each.value or {}).get("workspaceUris"))), None) for each in bubbles)):
        if isinstance(place, str) and place.startswith("file://"):
            return _path(place)
    return None


def _path(uri: str) -> str | None:
    try:
        return unquote(urlsplit(uri).path) or None
    except ValueError:
        return None


def _first(value: Any) -> Data:
    return as_object(next(iter(as_list(value)), None))
