"""A dataset of Inspect's: a sample a session, which asks again what the person asked last and was answered.

A session in which a person asked nothing makes no sample: Inspect wants an input. Images are kept where they are on the
web or in the file itself; a path of the machine that the session was recorded on would be opened on another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from convex_evals.render.json_lines import to_line
from convex_evals.sessions.arguments import arguments_of
from convex_evals.sessions.exchanges import last_turn
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.message import ASSISTANT, TOOL, Message, Part, usual_role


def write(sessions: Iterable[LabelledSession]) -> Iterator[bytes]:
    for session in sessions:
        messages = list(session.read_messages())
        turn = last_turn(messages)
        if turn is not None:
            yield to_line(_sample(session, messages[: turn.end], turn.reply))


def about(labelled: LabelledSession) -> dict[str, Any]:
    """What a reader may want to choose by."""
    session, label = labelled.session, labelled.label
    return {
        "title": session.title,
        "tool": session.tool,
        "models": list(session.models),
        "status": label.evalStatus.value,
        "tags": list(label.evalTags),
    }


def _sample(labelled: LabelledSession, asked: Sequence[Message], reply: str) -> dict[str, Any]:
    expected = labelled.label.expectedOutput
    return {
        "id": labelled.session.id,
        "input": [_message(message) for message in asked],
        "target": reply if expected is None else expected,
        "metadata": about(labelled),
    }


def _message(message: Message) -> dict[str, Any]:
    role = usual_role(message)
    data: dict[str, Any] = {"role": role, "content": _content(message)}
    if role == ASSISTANT and message.tool_calls:
        data["tool_calls"] = [
            {"id": call.id, "type": "function", "function": call.name, "arguments": arguments_of(call.arguments)[0]}
            for call in message.tool_calls
        ]
    if role == TOOL:
        data |= {"tool_call_id": message.tool_call_id, "function": message.name}
        if message.is_error:
            data["error"] = {"type": "unknown", "message": message.text}
    return data


def _content(message: Message) -> str | list[Part]:
    if not isinstance(message.content, list):
        return message.content or ""
    return [_part(part) for part in message.content]


def _part(part: Part) -> Part:
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if isinstance(url, str) and url.startswith(("https://", "http://", "data:image/")):
        return {"type": "image", "image": url}
    return {"type": "text", "text": f"[{part.get('type') or 'part'} left out]"}
