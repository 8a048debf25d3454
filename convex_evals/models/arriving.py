"""A reply while it arrives: LiteLLM's chunks to a text, and to what the provider says besides it."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.responses import ResponseEvents, tap
from convex_evals.records import Usage
from convex_evals.records.reply import Reply
from convex_evals.text import well_formed

if TYPE_CHECKING:
    from convex_evals.models.guard import Guard

_MOST_COUNTED = 10_000_000  # tokens or searches; what is more is no count
_FINISH_REASON = re.compile(r"[A-Za-z_-]{1,40}")
_BROKEN_OFF = frozenset({"error", "network_error"})  # what providers finish with when they fail amid a reply


class ArrivingReply:
    """From the request, when this is made, to the end of the reply."""

    def __init__(self, guard: Guard, keys: Sequence[str], on_text: Callable[[str], None]) -> None:
        """`keys` were sent with the request, and must not come back; `on_text` hears of every piece."""
        self._guard, self._on_text = guard, on_text
        self._keys = [_KeyWatch(key) for key in keys]
        self._facts = _Facts()
        self._pieces: list[str] = []
        self._size = 0  # characters
        self._start = time.monotonic()
        self._first: float | None = None  # when the first text came

    def listen(self, response: Any) -> Any:
        """LiteLLM's `response`, listened to below its translation, which leaves out refusals and searches."""
        if response.completion_stream is not None:
            response.completion_stream = self._listened(response.completion_stream)
            return response
        ask = response.make_call  # as for Gemini: the request is sent when the first chunk is wanted

        async def ask_and_listen(**options: Any) -> Any:
            return self._listened(await ask(**options))

        response.make_call = ask_and_listen
        return response

    def _listened(self, stream: Any) -> Any:
        self._facts.events = tap(stream)
        return _Peek(stream, self._facts)

    def take(self, chunk: Any) -> None:
        """Raises `ProviderFault` for a text that is too long, or quotes a key."""
        text = self._facts.take(chunk)
        if text:
            self._take_text(text)

    def _take_text(self, text: str) -> None:
        self._size += len(text)
        if self._size > self._guard.most_text:
            self._guard.refuse(Fault.OVER_LIMIT, f"a text of more than {self._guard.most_text:,} characters")
        if any(key.is_in(text) for key in self._keys):
            self._guard.refuse(Fault.MALFORMED, "the reply quotes the API key, so it is not kept")
        self._first = self._first or time.monotonic()
        self._pieces.append(text)
        self._on_text(text)

    def whole(self, response: Any, *, refused: bool) -> Reply:
        """The reply that LiteLLM's `response` has in one piece. Raises `ProviderFault` as `take` and `end` do."""
        choice = next(iter(response.choices), None)
        if choice is None:
            raise ProviderFault(Fault.MALFORMED, "an answer without choices")
        self._facts.count(getattr(response, "usage", None))
        self._facts.refusal = "refusal" if refused else None
        self._take_text(str(choice.message.content or ""))
        return self.end(choice.finish_reason)

    def end(self, said: object) -> Reply:
        """The reply; `said` is the provider's own word for why it ended. Raises `ProviderFault` where it did not."""
        facts, first = self._facts, self._first
        finish = _finish_reason(facts.refused or said or facts.finished)
        return Reply(
            text=well_formed("".join(self._pieces)),
            finish_reason=finish,
            usage=facts.usage,
            searches=facts.searches,
            cost_usd=facts.cost,
            first_token_ms=round((first - self._start) * 1000) if first else None,
            duration_ms=round((time.monotonic() - self._start) * 1000),
            server=self._guard.server,
        )


def _finish_reason(said: object) -> str:
    """The provider's own word for why the reply ended; LiteLLM says "stop" whenever a stream ends."""
    if said is None or str(said).lower() in _BROKEN_OFF:
        raise ProviderFault(Fault.CUT, "the stream ended before the reply did")
    word = str(getattr(said, "value", said))
    if not _FINISH_REASON.fullmatch(word):
        raise ProviderFault(Fault.MALFORMED, f"a finish reason that is none: {word[:60]!r}")
    return word


@dataclass
class _KeyWatch:
    """Whether a text that comes in pieces has a key in it: replies are files, and published."""

    key: str
    _end: str = ""

    def is_in(self, piece: str) -> bool:
        recent = self._end + piece
        self._end = recent[-len(self.key) :]
        return self.key in recent


class _Facts:
    """What the chunks of one stream say besides the text."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.counted_searches = 0
        self.cost: float | None = None  # what the provider says; LiteLLM adds an estimate of its own
        self.finished: str | None = None
        self.refusal: str | None = None
        self.events: ResponseEvents | None = None  # of the Responses API
        self.cited = False

    def take(self, chunk: Any) -> str:
        self.count(getattr(chunk, "usage", None))
        if not chunk.choices:
            return ""
        delta = chunk.choices[0].delta
        self.cited = self.cited or bool(getattr(delta, "annotations", None))
        return str(delta.content or "")

    @property
    def refused(self) -> str | None:
        return "refusal" if self.refusal or (self.events and self.events.refused) else None

    @property
    def searches(self) -> int:
        """As the provider counts them. One that counts none and cites pages has searched at least once."""
        return self.counted_searches or (self.events.searches if self.events else 0) or int(self.cited)

    def count(self, usage: Any) -> None:
        """Keep what the provider counted."""
        if usage is None:
            return
        prompt, output = (
            getattr(usage, "prompt_tokens_details", None),
            getattr(usage, "completion_tokens_details", None),
        )
        self.usage = Usage(
            input_tokens=_count(usage, "prompt_tokens"),
            output_tokens=_count(usage, "completion_tokens"),
            cached_tokens=_count(prompt, "cached_tokens"),
            reasoning_tokens=_count(output, "reasoning_tokens"),
        )
        tools = getattr(usage, "server_tool_use", None)
        self.counted_searches = (
            _count(tools, "web_search_requests")
            or _count(prompt, "web_search_requests")
            or _count(usage, "num_search_queries")
            or self.counted_searches
        )

    def overhear(self, chunk: Any) -> None:
        """What is in the provider's own chunks, and not, or not as it was, in LiteLLM's."""
        choice = next(iter(getattr(chunk, "choices", None) or ()), None)
        if getattr(getattr(choice, "delta", None), "refusal", None):
            self.refusal = "refusal"
        self.finished = getattr(choice, "finish_reason", None) or self.finished
        cost = getattr(getattr(chunk, "usage", None), "cost", None)
        if isinstance(cost, int | float) and 0 < cost < math.inf:
            self.cost = float(cost)


def _count(told: object, name: str) -> int:
    """A number that a provider gives; 0 where it is none, or none that can be."""
    value = getattr(told, name, None)
    return value if type(value) is int and 0 <= value <= _MOST_COUNTED else 0


class _Peek:
    """The provider's own stream below LiteLLM's, which leaves out chunks that have a refusal and no content."""

    def __init__(self, inner: Any, facts: _Facts) -> None:
        self._inner = inner
        self._iterator = aiter(inner) if hasattr(inner, "__aiter__") else inner
        self._facts = facts

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> _Peek:
        return self

    async def __anext__(self) -> Any:
        chunk = await anext(self._iterator)
        self._facts.overhear(chunk)
        return chunk
