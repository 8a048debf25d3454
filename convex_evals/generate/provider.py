"""One request to a provider, through LiteLLM. LiteLLM's retries, and those of the SDKs below it, are off."""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from convex_evals.generate.exceptions import fault_of
from convex_evals.generate.faults import Fault, ProviderFault
from convex_evals.generate.responses import Events, do_without_gateway, stream_for_real, tap
from convex_evals.records import Usage
from convex_evals.records.models import ModelEntry
from convex_evals.text import well_formed

FIRST_BYTE_SECONDS = 300.0  # reasoning models may be silent for long
BETWEEN_SECONDS = 120.0


@dataclass(frozen=True)
class Call:
    """What is sent."""

    messages: list[dict[str, str]]
    max_output_tokens: int
    web_search: bool
    extra: Mapping[str, Any]


@dataclass(frozen=True)
class Streamed:
    """A reply whose end arrived."""

    text: str
    finish_reason: str
    usage: Usage
    searches: int
    cost_usd: float | None  # the provider's own figure
    first_token_ms: int | None
    duration_ms: int


async def stream(entry: ModelEntry, call: Call, on_text: Callable[[str], None]) -> Streamed:
    """Ask once; `on_text` hears of every piece of the reply as it arrives. Raises `ProviderFault`."""
    # In a thread: what else goes on does not stand still for the seconds that it takes.
    litellm = await asyncio.to_thread(load_litellm)
    if entry.api == "responses":
        stream_for_real(litellm, entry.litellm_name)
    start = time.monotonic()
    parts: list[str] = []
    first: float | None = None
    found = _Found()
    try:
        async with asyncio.timeout(FIRST_BYTE_SECONDS) as limit:
            response = await litellm.acompletion(**_arguments(entry, call))
            found.events = tap(response.completion_stream)
            response.completion_stream = _Peek(response.completion_stream, found)
            async for chunk in response:
                limit.reschedule(asyncio.get_running_loop().time() + BETWEEN_SECONDS)
                text = found.take(chunk)
                if text:
                    first = first or time.monotonic()
                    parts.append(text)
                    on_text(text)
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise fault_of(error, entry) from None
    finish = found.refused or getattr(response, "received_finish_reason", None)
    if finish is None:
        # LiteLLM says "stop" whenever a stream ends; only the provider's own word counts.
        raise ProviderFault(Fault.CUT, "the stream ended before the reply did")
    end = time.monotonic()
    return Streamed(
        text=well_formed("".join(parts)),
        finish_reason=str(finish),
        usage=found.usage,
        searches=found.searches,
        cost_usd=found.cost,
        first_token_ms=round((first - start) * 1000) if first else None,
        duration_ms=round((end - start) * 1000),
    )


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
    """The key for this model, None where LiteLLM looks for it itself. A server of one's own may need none."""
    if entry.key_env:
        key = os.environ.get(entry.key_env)
        if not key:
            raise ProviderFault(Fault.AUTH, f"{entry.key_env} is not set")
        return key
    return "none" if entry.base_url else None


class _Found:
    """What the chunks of one stream say besides the text."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.counted_searches = 0
        self.cost: float | None = None
        self.refusal: str | None = None
        self.events: Events | None = None  # of the Responses API
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
            input_tokens=usage.prompt_tokens or 0,
            output_tokens=usage.completion_tokens or 0,
            cached_tokens=getattr(prompt, "cached_tokens", None) or 0,
            reasoning_tokens=getattr(output, "reasoning_tokens", None) or 0,
        )
        tools = getattr(usage, "server_tool_use", None)
        self.counted_searches = (
            getattr(tools, "web_search_requests", None)
            or getattr(prompt, "web_search_requests", None)
            or getattr(usage, "num_search_queries", None)
            or self.counted_searches
        )
        cost = getattr(usage, "cost", None)
        if isinstance(cost, int | float) and cost > 0:
            self.cost = float(cost)


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
