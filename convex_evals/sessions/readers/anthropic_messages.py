"""Messages out of records in Anthropic's form, a reply that is stored in pieces being one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from convex_evals.records.generation import Usage
from convex_evals.sessions.conversation import DETAIL, MESSAGE, REPEATED
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER, Message, Part, ToolCall
from convex_evals.sessions.readers.anthropic_blocks import BlockContent, ToolResult, divided, joined, parsed
from convex_evals.sessions.readers.values import as_natural, as_object

TellKind = Callable[[str], None]


@dataclass(slots=True)
class OpenReply:
    """A reply, as far as it was read."""

    time: str | None = None
    model: str | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    parts: list[Part] = field(default_factory=list)
    thinking: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)

    def message(self) -> Message:
        content = joined(self.parts)
        return Message(
            ASSISTANT,
            content or (None if self.calls else ""),
            tool_calls=tuple(self.calls.values()),
            thinking="\n\n".join(self.thinking) or None,
            time=self.time,
            model=self.model,
            usage=self.usage,
            cost_usd=self.cost_usd,
        )


class AnthropicMessages:
    """Collects the messages of one conversation. What takes a record in returns the fate of it, or None.

    None means that it has no content that could be read.
    """

    def __init__(self) -> None:
        self._entries: list[Message | OpenReply] = []
        self._open: dict[Hashable, OpenReply] = {}
        self._tools: dict[str, str] = {}  # names, by ids of calls
        self._results: dict[str, Message] = {}
        self._prompt: Message | None = None
        self._unnamed = 0

    def all(self) -> list[Message]:
        return [entry if isinstance(entry, Message) else entry.message() for entry in self._entries]

    def user(self, content: Any, time: str | None, tell: TellKind, injected: bool = False) -> str | None:
        """A record under the role of the user: results of tools, and a request or what the agent added."""
        found = self._parsed(content, tell)
        if found is None:
            return None
        before = len(self._entries)
        is_new = [self._add_result(result, time) for result in found.results]
        # Text next to results is the agent's, too: a person's is a record of its own.
        all_added = injected or bool(found.results)
        added, said = (found.parts, []) if all_added else divided(found.parts)
        self._add(USER, added, time, injected=True)
        if said:
            self._open.clear()
            self._add(USER, said, time)
        if is_new and not any(is_new) and len(self._entries) == before:
            return REPEATED
        return MESSAGE if len(self._entries) > before else DETAIL

    def system(self, content: Any, time: str | None, tell: TellKind) -> str | None:
        found = self._parsed(content, tell)
        if found is None:
            return None
        self._add(SYSTEM, found.parts, time)
        return MESSAGE if found.parts else DETAIL

    def system_prompt(self, content: Any, time: str | None, tell: TellKind) -> str | None:
        """What the model was given before all else, though it is recorded after the first request."""
        found = self._parsed(content, tell)
        if found is None or not found.parts:
            return None if found is None else DETAIL
        message = Message(SYSTEM, joined(found.parts), time=time)
        if self._prompt is not None and self._prompt.content == message.content:
            return REPEATED
        is_first = self._prompt is None and not any(isinstance(entry, OpenReply) for entry in self._entries)
        self._entries.insert(0 if is_first else len(self._entries), message)
        self._prompt = message
        return MESSAGE

    def assistant(
        self,
        content: Any,
        time: str | None,
        tell: TellKind,
        reply: Hashable,
        model: str | None = None,
        usage: Usage | None = None,
        cost_usd: float | None = None,
        thinking: str | None = None,
    ) -> str | None:
        """A piece of a reply. `thinking` counts where the content has none."""
        found = self._parsed(content, tell)
        if found is None:
            return None
        known = self._open.get(reply)
        if known is None:
            known = self._open[reply] = OpenReply(time)
            self._entries.append(known)
        known.model = model or known.model
        known.usage = usage or known.usage  # it is repeated with each piece, and complete with the last
        known.cost_usd = known.cost_usd if cost_usd is None else cost_usd
        known.parts += found.parts
        known.thinking += found.thinking or ([thinking] if thinking else [])
        calls = [call for call in map(self._named, found.calls) if call.id not in known.calls]
        known.calls.update((call.id, call) for call in calls)
        results = [self._add_result(result, time) for result in found.results]
        is_repeated = found.calls and not (calls or found.parts or found.thinking or any(results))
        return REPEATED if is_repeated else MESSAGE

    @staticmethod
    def _parsed(content: Any, tell: TellKind) -> BlockContent | None:
        found = parsed(content)
        for kind in found.unknown if found else ():
            tell(kind)
        return found

    def _named(self, call: ToolCall) -> ToolCall:
        if not call.id:
            self._unnamed += 1
            call = ToolCall(f"call-{self._unnamed}", call.name, call.arguments)
        self._tools[call.id] = call.name
        return call

    def _add(self, role: str, parts: list[Part], time: str | None, injected: bool = False) -> None:
        if parts:
            self._entries.append(Message(role, joined(parts), time=time, injected=injected))

    def _add_result(self, result: ToolResult, time: str | None) -> bool:
        """Whether it was not there yet."""
        name = self._tools.get(result.call or "")
        message = Message(
            TOOL, result.content, name=name, tool_call_id=result.call, is_error=result.is_error, time=time
        )
        known = self._results.get(result.call or "")
        if known and (known.content, known.is_error) == (message.content, message.is_error):
            return False
        if result.call:
            self._results[result.call] = message
        self._entries.append(message)
        return True


def usage_of(value: Any) -> Usage | None:
    """Tokens of one request. What Anthropic calls input is only what neither was in the cache nor came into it."""
    given = as_object(value)
    cached = as_natural(given.get("cache_read_input_tokens"))
    new = as_natural(given.get("input_tokens")) + as_natural(given.get("cache_creation_input_tokens"))
    written = as_natural(given.get("output_tokens"))
    if not (cached or new or written):
        return None
    thought = as_natural(as_object(given.get("output_tokens_details")).get("thinking_tokens"))
    return Usage(
        input_tokens=new + cached, output_tokens=written, cached_tokens=cached, reasoning_tokens=min(thought, written)
    )
