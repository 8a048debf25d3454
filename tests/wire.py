"""The two streaming protocols of OpenAI, as the events that a reply is made of."""

from __future__ import annotations

from typing import Any, Protocol

Event = dict[str, Any]
_CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "stub"}
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class Wire(Protocol):
    """What one protocol says for a piece of a reply. `usage` is in the words of chat completions."""

    def begin(self) -> list[Event]: ...
    def text(self, piece: str) -> list[Event]: ...
    def refusal(self, piece: str) -> list[Event]: ...
    def searches(self, count: int) -> list[Event]: ...
    def tool_call(self) -> list[Event]: ...
    def end(self, finish: str, usage: Event | None) -> list[Event]: ...

    last: str | None  # what ends the stream


def wire_of(path: str) -> Wire:
    return Responses() if path.endswith("/responses") else Chat()


def question(body: Event) -> str:
    """The user's message of a request in either protocol."""
    content = (body.get("messages") or body["input"])[-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


class Chat:
    last: str | None = "[DONE]"

    def __init__(self) -> None:
        self._searches = 0

    def begin(self) -> list[Event]:
        return [self._chunk({"role": "assistant", "content": ""})]

    def text(self, piece: str) -> list[Event]:
        return [self._chunk({"content": piece})]

    def refusal(self, piece: str) -> list[Event]:
        return [self._chunk({"refusal": piece})]

    def searches(self, count: int) -> list[Event]:
        """Counted in the usage, as OpenRouter does; OpenAI itself shows citations only."""
        self._searches = count
        citation = {"type": "url_citation", "url_citation": {"url": "https://docs.convex.dev", "title": "Docs"}}
        return [self._chunk({"annotations": [citation]})]

    def tool_call(self) -> list[Event]:
        function = {"name": "write_file", "arguments": "{}"}
        return [self._chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})]

    def end(self, finish: str, usage: Event | None) -> list[Event]:
        events = [self._chunk({}, finish)]
        if usage is not None:
            tools = {"server_tool_use": {"web_search_requests": self._searches}} if self._searches else {}
            events.append({**_CHUNK, "choices": [], "usage": {**usage, **tools}})
        return events

    def _chunk(self, delta: Event, finish: str | None = None) -> Event:
        return {**_CHUNK, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


class Responses:
    last: str | None = None

    def __init__(self) -> None:
        self._number = 0
        self._output: list[Event] = []
        self._content: Event = {"type": "output_text", "text": "", "annotations": []}
        self._began = False

    def begin(self) -> list[Event]:
        return [self._event(f"response.{word}", response=self._response("in_progress")) for word in _FIRST]

    def searches(self, count: int) -> list[Event]:
        events = []
        for n in range(count):
            item = {"id": f"ws_{n}", "type": "web_search_call", "status": "completed"}
            item["action"] = {"type": "search", "query": "convex"}  # type: ignore[assignment]
            place = {"output_index": len(self._output)}
            self._output.append(item)
            events += [
                self._event("response.output_item.added", item={**item, "status": "in_progress"}, **place),
                self._event("response.web_search_call.searching", item_id=item["id"], **place),
                self._event("response.output_item.done", item=item, **place),
            ]
        return events

    def tool_call(self) -> list[Event]:
        item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "write_file", "arguments": ""}
        place = {"output_index": len(self._output)}
        done = {**item, "arguments": "{}", "status": "completed"}
        self._output.append(done)
        return [
            self._event("response.output_item.added", item={**item, "status": "in_progress"}, **place),
            self._event("response.function_call_arguments.delta", item_id="fc_1", delta="{}", **place),
            self._event("response.function_call_arguments.done", item_id="fc_1", arguments="{}", **place),
            self._event("response.output_item.done", item=done, **place),
        ]

    def text(self, piece: str) -> list[Event]:
        self._content["text"] += piece
        return [*self._message(), self._event("response.output_text.delta", delta=piece, **self._place())]

    def refusal(self, piece: str) -> list[Event]:
        self._content = {"type": "refusal", "refusal": piece}
        return [*self._message(), self._event("response.refusal.delta", delta=piece, **self._place())]

    def end(self, finish: str, usage: Event | None) -> list[Event]:
        message = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": [self._content]}
        events = []
        if self._began:
            events.append(self._event("response.output_item.done", item=message, output_index=len(self._output)))
            self._output.append(message)
        reason = _INCOMPLETE.get(finish)
        status = "incomplete" if reason else "completed"
        response = self._response(status)
        response["incomplete_details"] = {"reason": reason} if reason else None
        response["usage"] = usage and {
            "input_tokens": usage["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 40},
            "output_tokens": usage["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": min(10, usage["completion_tokens"])},
            "total_tokens": usage["total_tokens"],
        }
        return [*events, self._event(f"response.{status}", response=response)]

    def _message(self) -> list[Event]:
        """The output's message begins with its first piece."""
        if self._began:
            return []
        self._began = True
        item = {"id": "m", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
        return [self._event("response.output_item.added", item=item, output_index=len(self._output))]

    def _place(self) -> Event:
        return {"item_id": "m", "output_index": len(self._output), "content_index": 0}

    def _response(self, status: str) -> Event:
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": status,
            "model": "stub",
            "output": list(self._output),
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "parallel_tool_calls": True,
            "temperature": None,
            "tool_choice": "auto",
            "tools": [],
            "top_p": None,
            "usage": None,
        }

    def _event(self, kind: str, **more: Any) -> Event:
        self._number += 1
        return {"type": kind, "sequence_number": self._number, **more}


_FIRST = ("created", "in_progress")
