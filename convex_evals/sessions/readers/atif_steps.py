"""The messages of a trajectory, from its steps. A step of an agent holds the answers to its calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import DETAIL, MESSAGE, RecordCount, session_id
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER, Message, Part, ToolCall
from convex_evals.sessions.readers.openai_files import raw
from convex_evals.sessions.readers.openai_messages import tool_calls
from convex_evals.sessions.readers.values import Data, as_cost, as_list, as_natural, as_object, as_text
from convex_evals.sessions.times import timestamp

NAME = "atif"
_ROLES = {"user": USER, "agent": ASSISTANT, "system": SYSTEM}
# Of what a producer adds to a step, the keys of OpenAI's chat messages.
_OF_CHAT = ("refusal", "audio", "annotations", "function_call", "weight")
_REASONING = ("reasoning_tokens", "reasoning_output_tokens", "thoughts_tokens")


class Steps:
    """Takes the steps of one trajectory, in order."""

    def __init__(self, model: str | None, subagents: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self.messages: list[Message] = []
        self.records = RecordCount()
        self._model = model
        self._subagents = subagents  # native ids of embedded trajectories, by their own ids
        self._tell = tell
        self._told: set[str] = set()

    def take(self, step: Any) -> None:
        if not isinstance(step, dict):
            self.records.count_unknown("(no object)")
            return
        role = _ROLES.get(str(step.get("source")))
        if role is None:
            self.records.count_unknown(f"step:{step.get('source')}")
            return
        before = len(self.messages)
        results = as_list(as_object(step.get("observation")).get("results"))
        content = self._content(step.get("message"))
        if role == ASSISTANT:
            self.messages.append(self._reply(step, content))
        elif content or not results:  # else it stands for what came of no call that is known
            self.messages.append(_said(step, role, content))
        for result in results:
            self._take_result(step, result)
        self.records.count(MESSAGE if len(self.messages) > before else DETAIL)

    def _reply(self, step: Data, content: str | list[Part]) -> Message:
        extra = as_object(step.get("extra"))
        calls = tuple(self._call(call, at) for at, call in enumerate(as_list(step.get("tool_calls")), 1))
        # What was copied from another trajectory, for context, was paid for there.
        metrics = {} if step.get("is_copied_context") is True else as_object(step.get("metrics"))
        return Message(
            ASSISTANT,
            None if calls and content == "" else content,
            tool_calls=calls,
            thinking=as_text(step.get("reasoning_content")),
            time=timestamp(step.get("timestamp")),
            model=as_text(step.get("model_name")) or (None if step.get("llm_call_count") == 0 else self._model),
            usage=_usage(metrics),
            cost_usd=as_cost(metrics.get("cost_usd")),
            more=_of_chat(extra),
        )

    def _call(self, value: Any, at: int) -> ToolCall:
        call = as_object(value)
        call_id, name = call.get("tool_call_id"), call.get("function_name")
        if not isinstance(name, str):
            self._tell_once("a call without the name of a function; kept as one of `tool`")
        return ToolCall(
            call_id if isinstance(call_id, str) else f"call-{at}",
            name if isinstance(name, str) else "tool",
            _arguments(call),
        )

    def _take_result(self, step: Data, value: Any) -> None:
        result = as_object(value)
        if not isinstance(value, dict):
            self._tell_once("a result that is no object; kept as text")
        extra = as_object(result.get("extra"))
        call_id = extra.get("tool_call_id") if result.get("source_call_id") is None else result["source_call_id"]
        content = self._content(result.get("content")) if isinstance(value, dict) else raw(value)
        self.messages.append(
            Message(
                TOOL,
                content,
                name if isinstance(name := extra.get("name"), str) else None,
                tool_call_id=call_id if isinstance(call_id, str) else None,
                is_error=extra.get("is_error") is True,
                time=timestamp(extra.get("timestamp")) or timestamp(step.get("timestamp")),
                subagent=self._subagent(result.get("subagent_trajectory_ref")),
                more=_of_chat(extra),
            )
        )

    def _subagent(self, references: Any) -> str | None:
        """The first session that a result refers to. In older versions there is one, and no list."""
        for each in references if isinstance(references, list) else (references,):
            reference = as_object(each)
            name, run = as_text(reference.get("trajectory_id")), as_text(reference.get("session_id"))
            if native := self._subagents.get(name or "") or name or run:
                return session_id(NAME, native)
        return None

    def _content(self, value: Any) -> str | list[Part]:
        if isinstance(value, list):
            return [self._part(part) for part in value]
        if value is not None and not isinstance(value, str):
            self._tell_once(f"content that is a {type(value).__name__}; kept as text")
        return value if isinstance(value, str) else "" if value is None else raw(value)

    def _part(self, value: Any) -> Part:
        part, source = as_object(value), as_object(as_object(value).get("source"))
        if part.get("type") == "text" and isinstance(part.get("text"), str):
            return {"type": "text", "text": part["text"]}
        if path := as_text(source.get("path")):
            if part.get("type") == "image":
                return {"type": "image_url", "image_url": {"url": path}}
            if part.get("type") == "audio":
                return {"type": "file", "file": {"filename": path}}
        self._tell_once(f"a part of unknown kind {str(part.get('type'))[:60]!r}; kept as it is")
        return part or {"type": "text", "text": raw(value)}

    def _tell_once(self, what: str) -> None:
        if what not in self._told:
            self._told.add(what)
            self._tell(what)


def _said(step: Data, role: str, content: str | list[Part]) -> Message:
    """What was said by another than the agent; an export notes what the format has no place for in `extra`."""
    extra = as_object(step.get("extra"))
    return Message(
        as_text(extra.get("role")) or role,
        content,
        name if isinstance(name := extra.get("name"), str) else None,
        tool_calls=tool_calls(extra.get("tool_calls")),
        thinking=as_text(extra.get("thinking")),
        injected=extra.get("injected") is True,
        time=timestamp(step.get("timestamp")),
        more=_of_chat(extra),
    )


def _arguments(call: Data) -> str:
    given = call.get("arguments")
    text = as_object(given).get("input")
    if isinstance(text, str) and given == {"input": text} and "arguments" in as_object(call.get("extra")):
        return text  # an export puts there what a model wrote that is no object
    return given if isinstance(given, str) else raw({} if given is None else given)


def _of_chat(extra: Data) -> Data:
    return {key: extra[key] for key in _OF_CHAT if key in extra}


def _usage(metrics: Data) -> Usage | None:
    extra = as_object(metrics.get("extra"))
    found = Usage(
        input_tokens=as_natural(metrics.get("prompt_tokens")),
        output_tokens=as_natural(metrics.get("completion_tokens")),
        cached_tokens=as_natural(metrics.get("cached_tokens")),
        reasoning_tokens=next((tokens for key in _REASONING if (tokens := as_natural(extra.get(key)))), 0),
    )
    return None if found == Usage() else found
