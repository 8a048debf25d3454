"""The Agent Trajectory Interchange Format, version 1.7: a trajectory a line.

What a tool answered stands in the step that called it. What the agent wrote under the role of the user is a step of the
system: the format's source says who began a step. Data that the format has no place for is in `extra`.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.records.session import Session
from convex_evals.render.json_lines import to_line
from convex_evals.sessions.arguments import arguments_of
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.message import ASSISTANT, TOOL, USER, Message, Part, ToolCall, text_of
from convex_evals.sessions.times import timestamp

VERSION = "ATIF-v1.7"
_AGENT = "agent"
_SOURCES = {USER: "user", ASSISTANT: _AGENT}
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
Data = dict[str, Any]


def write(sessions: Iterable[LabelledSession]) -> Iterator[bytes]:
    for labelled in sessions:
        data = trajectory(labelled.session, labelled.read_messages())
        label = labelled.label.model_dump(mode="json", exclude_defaults=True)
        data["extra"]["label"] = {"evalStatus": labelled.label.evalStatus.value, **label}
        yield to_line(data)


def trajectory(
    session: Session, messages: Iterable[Message], read_subagent: Callable[[str], Data | None] | None = None
) -> Data:
    """A session as one trajectory.

    A sub-agent's is referred to by its path, as seen from the folder of this session, unless `read_subagent` brings it
    for its session's id: then it is embedded.
    """
    steps = _Steps(read_subagent)
    for message in messages:
        steps.add(message)
    if not steps.steps:
        steps.append("system", "This session has no messages.", {})
    version = session.tool_version or "unknown"
    agent = {"name": session.tool, "version": version, "model_name": session.models[0] if session.models else None}
    return _known(
        {
            "schema_version": VERSION,
            "session_id": session.id,
            "trajectory_id": session.id,
            "agent": _known(agent),
            "steps": steps.steps,
            "final_metrics": _final_metrics(session, len(steps.steps)),
            "extra": _about(session),
            "subagent_trajectories": list(steps.embedded.values()) or None,
        }
    )


class _Steps:
    """Steps in the order of messages, those of tools within the steps that they answer."""

    def __init__(self, read_subagent: Callable[[str], Data | None] | None) -> None:
        self.steps: list[Data] = []
        self.embedded: dict[str, Data] = {}
        self._read_subagent = read_subagent
        self._called: dict[str, Data] = {}  # steps by the ids of their calls

    def add(self, message: Message) -> None:
        if message.role in (TOOL, "function"):
            self._add_result(message)
        elif message.role == ASSISTANT:
            self._add_reply(message)
        else:
            source = "system" if message.injected else _SOURCES.get(message.role, "system")
            self.append(source, _content(message), _step_extra(message, source), timestamp(message.time))

    def append(self, source: str, content: Any, extra: Data, time: str | None = None, **fields: Any) -> Data:
        step = {"step_id": len(self.steps) + 1, "timestamp": time, "source": source, "message": content, **fields}
        self.steps.append(_known({**step, "extra": extra or None}))
        return self.steps[-1]

    def _add_reply(self, message: Message) -> None:
        step = self.append(
            _AGENT,
            _content(message),
            dict(message.more),
            timestamp(message.time),
            model_name=message.model,
            reasoning_content=message.thinking,
            tool_calls=[_call(call) for call in message.tool_calls] or None,
            metrics=_metrics(message),
        )
        self._called |= {call.id: step for call in message.tool_calls}

    def _add_result(self, message: Message) -> None:
        step = self._called.get(message.tool_call_id or "")
        result = _known(
            {
                "source_call_id": message.tool_call_id if step else None,
                "content": _content(message),
                "subagent_trajectory_ref": self._reference(message.subagent),
                "extra": _result_extra(message, is_known=step is not None) or None,
            }
        )
        if step is None:
            self.append("system", "", {}, timestamp(message.time), observation={"results": [result]})
        else:
            step.setdefault("observation", {"results": []})["results"].append(result)

    def _reference(self, subagent: str | None) -> list[Data] | None:
        if subagent is None:
            return None
        found = self.embedded.get(subagent) or (self._read_subagent(subagent) if self._read_subagent else None)
        if found is None:
            path = f"../../{subagent[:2]}/{subagent}/trajectory.json"
            return [{"session_id": subagent, "trajectory_path": path}]
        self.embedded[subagent] = found
        return [{"trajectory_id": found["trajectory_id"], "session_id": subagent}]


def _call(call: ToolCall) -> Data:
    arguments, is_object = arguments_of(call.arguments)
    extra = {} if is_object else {"extra": {"arguments": "not a JSON object; the text is in `input`"}}
    return {"tool_call_id": call.id, "function_name": call.name, "arguments": arguments, **extra}


def _step_extra(message: Message, source: str) -> Data:
    more = {
        "role": message.role if message.role != source else None,
        "injected": message.injected or None,
        "name": message.name,
        "thinking": message.thinking,
        "tool_calls": [call.to_data() for call in message.tool_calls] or None,
    }
    return {**message.more, **_known(more)}


def _result_extra(message: Message, *, is_known: bool) -> Data:
    more = {
        "name": message.name,
        "is_error": message.is_error or None,
        "timestamp": timestamp(message.time) if is_known else None,
        "tool_call_id": None if is_known else message.tool_call_id,
    }
    return {**message.more, **_known(more)}


def _content(message: Message) -> str | list[Data]:
    """Text, or parts where there is an image among them."""
    if not isinstance(message.content, list):
        return message.text
    parts = [_part(part) for part in message.content]
    return parts if any(part["type"] == "image" for part in parts) else text_of(parts)


def _part(part: Part) -> Data:
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    image = part.get("image_url")
    url = image.get("url") if isinstance(image, dict) else image
    if not isinstance(url, str):
        return {"type": "text", "text": f"[{part.get('type') or 'part'} left out]"}
    if url.startswith("data:"):
        return {"type": "text", "text": f"[{url[5:].partition(';')[0][:100]} of {len(url):,} characters left out]"}
    media_type = mimetypes.guess_type(url.partition("?")[0])[0]
    if media_type not in _IMAGES:
        return {"type": "text", "text": f"[image {url}]"}
    return {"type": "image", "source": {"media_type": media_type, "path": url}}


def _metrics(message: Message) -> Data | None:
    tokens = {} if message.usage is None else _tokens(message.usage, "")
    return _known({**tokens, "cost_usd": message.cost_usd}) or None


def _final_metrics(session: Session, steps: int) -> Data:
    tokens = _tokens(session.usage, "total_") if session.usage != Usage() else {}
    return _known({**tokens, "total_cost_usd": session.cost_usd, "total_steps": steps})


def _tokens(usage: Usage, prefix: str) -> Data:
    return {
        f"{prefix}prompt_tokens": usage.input_tokens,
        f"{prefix}completion_tokens": usage.output_tokens,
        f"{prefix}cached_tokens": usage.cached_tokens,
        **({"extra": {"reasoning_tokens": usage.reasoning_tokens}} if usage.reasoning_tokens else {}),
    }


def _about(session: Session) -> Data:
    kept = ("title", "native_id", "started_at", "ended_at", "folder", "git_branch", "branches", "parent", "redacted")
    return session.model_dump(mode="json", include=set(kept), exclude_defaults=True)


def _known(data: Data) -> Data:
    return {key: value for key, value in data.items() if value is not None}
