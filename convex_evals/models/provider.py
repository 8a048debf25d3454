"""One request to a provider, through LiteLLM. LiteLLM's retries, and those of the SDKs below it, are off."""

from __future__ import annotations

import asyncio
import gc
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from convex_evals.errors import UserError
from convex_evals.models.exceptions import fault_of
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.responses import ResponseEvents, do_without_gateway, stream_for_real, tap
from convex_evals.models.servers import refuse_stranger, sent_keys
from convex_evals.records import Usage
from convex_evals.records.models import ModelEntry
from convex_evals.records.reply import Reply
from convex_evals.text import well_formed

FIRST_BYTE_SECONDS = 300.0  # reasoning models may be silent for long
BETWEEN_SECONDS = 120.0
# In all: what the slowest models need for each token, and what comes before the first.
SECONDS_PER_TOKEN = 0.1
LONGEST_WAIT = 600.0
_MOST_COUNTED = 10_000_000  # tokens or searches; what is more is no count
_FINISH_REASON = re.compile(r"[A-Za-z_-]{1,40}")
_BROKEN_OFF = frozenset({"error", "network_error"})  # what providers finish with when they fail amid a reply
_UNGUARDED = frozenset({"aiohttp_openai"})  # providers that LiteLLM asks without httpx


@dataclass(frozen=True)
class Call:
    """What is sent."""

    messages: list[dict[str, str]]
    max_output_tokens: int
    web_search: bool
    extra: Mapping[str, Any]


async def stream(entry: ModelEntry, call: Call, on_text: Callable[[str], None]) -> Reply:
    """Ask once; `on_text` hears of every piece of the reply as it arrives. Raises `ProviderFault`."""
    # In a thread: what else goes on does not stand still for the seconds that it takes.
    litellm = await asyncio.to_thread(load_litellm)
    if entry.api == "responses":
        stream_for_real(litellm, entry.litellm_name)
    if entry.litellm_name.partition("/")[0] in _UNGUARDED:
        raise ProviderFault(Fault.REQUEST, "LiteLLM asks this provider in a way that cannot be limited")
    from convex_evals.models.guard import Guard, guarded

    guard = Guard.of_tokens(call.max_output_tokens, web_search=call.web_search)
    start = time.monotonic()
    parts: list[str] = []
    size = 0
    quotes = [_Quoted(key) for key in sent_keys(entry)]
    first: float | None = None
    found = _Found()
    try:
        async with (
            guarded(guard),
            asyncio.timeout(LONGEST_WAIT + SECONDS_PER_TOKEN * call.max_output_tokens),
            asyncio.timeout(FIRST_BYTE_SECONDS) as limit,
        ):
            response = await litellm.acompletion(**_arguments(entry, call))
            found.events = tap(response.completion_stream)
            response.completion_stream = _Peek(response.completion_stream, found)
            async for chunk in response:
                limit.reschedule(asyncio.get_running_loop().time() + BETWEEN_SECONDS)
                text = found.take(chunk)
                if text:
                    size += len(text)
                    if size > guard.most_text:
                        guard.refuse(Fault.OVER_LIMIT, f"a text of more than {guard.most_text:,} characters")
                    if any(quote.is_in(text) for quote in quotes):
                        guard.refuse(Fault.MALFORMED, "the reply quotes the API key, so it is not kept")
                    first = first or time.monotonic()
                    parts.append(text)
                    on_text(text)
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise guard.fault or fault_of(error, entry) from None
    if guard.fault:
        raise guard.fault
    finish = _finish_reason(found.refused or getattr(response, "received_finish_reason", None))
    end = time.monotonic()
    return Reply(
        text=well_formed("".join(parts)),
        finish_reason=finish,
        usage=found.usage,
        searches=found.searches,
        cost_usd=found.cost,
        first_token_ms=round((first - start) * 1000) if first else None,
        duration_ms=round((end - start) * 1000),
    )


def _finish_reason(said: object) -> str:
    """The provider's own word for why the reply ended; LiteLLM says "stop" whenever a stream ends."""
    if said is None or str(said).lower() in _BROKEN_OFF:
        raise ProviderFault(Fault.CUT, "the stream ended before the reply did")
    word = str(getattr(said, "value", said))
    if not _FINISH_REASON.fullmatch(word):
        raise ProviderFault(Fault.MALFORMED, f"a finish reason that is none: {word[:60]!r}")
    return word


@cache
def load_litellm() -> Any:
    """LiteLLM, quiet, with the price map that it brings: nothing is fetched, nothing is reported to anybody."""
    # Otherwise it would read a .env of its own finding.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    import logging
    import warnings

    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    with _uncollected():
        import litellm

    do_without_gateway()
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    litellm.telemetry = False
    # Where a provider counts no tokens LiteLLM would, in time that grows with the square of a long word.
    litellm.disable_token_counter = True
    for name in ("LiteLLM", "httpx", "openai"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return litellm


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector, which would look at 300,000 new objects again and again and find none to drop.

    They stay for as long as the process does, so it need not look at them later either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.enable()


def takes_search_options(name: str) -> bool:
    """Whether chat completions of the model `name` can be asked to search."""
    litellm = load_litellm()
    try:
        model, provider, _, _ = litellm.get_llm_provider(name)
        return "web_search_options" in (litellm.get_supported_openai_params(model, custom_llm_provider=provider) or ())
    except litellm.exceptions.BadRequestError:
        return False


def _arguments(entry: ModelEntry, call: Call) -> dict[str, Any]:
    name = entry.litellm_name
    if entry.api == "responses":
        provider, _, rest = name.partition("/")
        name = f"{provider}/responses/{rest}"
    parameters = entry.parameters
    optional = {
        "temperature": parameters.temperature,
        "reasoning_effort": parameters.reasoning_effort,
        "api_base": entry.base_url,
        "api_key": api_key(entry),
        "web_search_options": {"search_context_size": "medium"} if call.web_search else None,
    }
    return {
        "model": name,
        "messages": call.messages,
        "max_tokens": call.max_output_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
        "timeout": FIRST_BYTE_SECONDS,
        "num_retries": 0,
        "max_retries": 0,
        **({"extra_body": {"usage": {"include": True}}} if name.startswith("openrouter/") else {}),
        # LiteLLM drops what it does not expect of a model: searching must be refused aloud, not left out.
        **({"allowed_openai_params": ["web_search_options"]} if call.web_search else {}),
        **{key: value for key, value in optional.items() if value is not None},
        **call.extra,
    }


def api_key(entry: ModelEntry) -> str | None:
    """The key for this model, None where LiteLLM looks for it itself. A server of one's own may need none.

    Raises `ProviderFault` where there is none, or the server is not known to be meant.
    """
    try:
        refuse_stranger(entry)
    except UserError as error:
        raise ProviderFault(Fault.AUTH, str(error)) from None
    if entry.key_env:
        key = os.environ.get(entry.key_env)
        if not key:
            raise ProviderFault(Fault.AUTH, f"{entry.key_env} is not set")
        return key
    return "none" if entry.base_url else None


@dataclass
class _Quoted:
    """Whether a text that comes in pieces has a key in it: replies are files, and published."""

    key: str
    _end: str = ""

    def is_in(self, piece: str) -> bool:
        recent = self._end + piece
        self._end = recent[-len(self.key) :]
        return self.key in recent


class _Found:
    """What the chunks of one stream say besides the text."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.counted_searches = 0
        self.cost: float | None = None
        self.refusal: str | None = None
        self.events: ResponseEvents | None = None  # of the Responses API
        self.cited = False

    def take(self, chunk: Any) -> str:
        self._usage(getattr(chunk, "usage", None))
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

    def _usage(self, usage: Any) -> None:
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
        cost = getattr(usage, "cost", None)
        if isinstance(cost, int | float) and 0 < cost < math.inf:
            self.cost = float(cost)


def _count(told: object, name: str) -> int:
    """A number that a provider gives; 0 where it is none, or none that can be."""
    value = getattr(told, name, None)
    return value if type(value) is int and 0 <= value <= _MOST_COUNTED else 0


class _Peek:
    """The provider's own stream below LiteLLM's, which leaves out chunks that have a refusal and no content."""

    def __init__(self, inner: Any, found: _Found) -> None:
        self._inner = inner
        self._iterator = aiter(inner) if hasattr(inner, "__aiter__") else inner
        self._found = found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __aiter__(self) -> _Peek:
        return self

    async def __anext__(self) -> Any:
        chunk = await anext(self._iterator)
        choices = getattr(chunk, "choices", None)
        if choices and getattr(getattr(choices[0], "delta", None), "refusal", None):
            self._found.refusal = "refusal"
        return chunk
