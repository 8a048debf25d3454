"""One request to a provider, through LiteLLM. LiteLLM's retries, and those of the SDKs below it, are off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from convex_evals.errors import UserError
from convex_evals.models.arriving import ArrivingReply
from convex_evals.models.exceptions import fault_of
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.keys import key_value
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.responses import stream_for_real
from convex_evals.models.servers import asks_its_own, refuse_stranger, sent_keys
from convex_evals.records.models import ModelEntry
from convex_evals.records.reply import Reply

FIRST_BYTE_SECONDS = 300.0  # reasoning models may be silent for long
BETWEEN_SECONDS = 120.0
# In all: what the slowest models need for each token, and what comes before the first.
SECONDS_PER_TOKEN = 0.1
LONGEST_WAIT = 600.0
_LATER = 30.0  # seconds
_RETRYING = frozenset({"zai"})  # whose `max_retries` LiteLLM drops, so that the SDK below it tries three times


@dataclass(frozen=True)
class Call:
    """What is sent."""

    messages: list[dict[str, str]]
    max_output_tokens: int
    web_search: bool
    extra: Mapping[str, Any]
    timeout: float | None = None  # seconds of silence that end it; None: the usual ones

    @property
    def first_byte_s(self) -> float:
        return self.timeout or FIRST_BYTE_SECONDS

    @property
    def between_s(self) -> float:
        return self.timeout or BETWEEN_SECONDS

    @property
    def whole_s(self) -> float:
        return max(LONGEST_WAIT, self.first_byte_s) + SECONDS_PER_TOKEN * self.max_output_tokens


async def stream(entry: ModelEntry, call: Call, on_text: Callable[[str], None]) -> Reply:
    """Ask once; `on_text` hears of every piece of the reply as it arrives. Raises `ProviderFault`."""
    # In a thread: what else goes on does not stand still for the seconds that it takes.
    litellm = await asyncio.to_thread(load_litellm)
    if entry.api == "responses":
        stream_for_real(litellm, entry.litellm_name)
    from convex_evals.models.guard import Guard, guarded

    guard = Guard.of_tokens(call.max_output_tokens, web_search=call.web_search, asks=partial(asks_its_own, entry))
    arriving = ArrivingReply(guard, sent_keys(entry), on_text)
    try:
        async with (
            guarded(guard),
            asyncio.timeout(call.whole_s),
            asyncio.timeout(call.first_byte_s) as limit,
        ):
            response = arriving.listen(await litellm.acompletion(**arguments_of(entry, call)))
            async for chunk in response:
                limit.reschedule(asyncio.get_running_loop().time() + call.between_s)
                arriving.take(chunk)
    except asyncio.CancelledError:
        raise
    except Exception as error:
        raise guard.fault or fault_of(error, entry) from None
    if guard.fault:
        raise guard.fault
    return arriving.end(getattr(response, "received_finish_reason", None))


def arguments_of(entry: ModelEntry, call: Call, *, stream: bool = True) -> dict[str, Any]:
    """What LiteLLM is called with. Raises `ProviderFault` where there is no key."""
    name = entry.litellm_name
    if entry.api == "responses":
        provider, _, rest = name.partition("/")
        name = f"{provider}/responses/{rest}"
    parameters = entry.parameters
    # LiteLLM drops what it does not expect of a model: searching must be refused aloud, not left out.
    expected = ["web_search_options"] if call.web_search else []
    expected += ["max_retries"] if name.partition("/")[0] in _RETRYING else []
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
        "stream": stream,
        **({"stream_options": {"include_usage": True}} if stream else {}),
        "timeout": call.first_byte_s + _LATER,  # a timeout of its own would be some other fault
        "num_retries": 0,
        "max_retries": 0,
        **({"extra_body": {"usage": {"include": True}}} if name.startswith("openrouter/") else {}),
        **({"allowed_openai_params": expected} if expected else {}),
        **{key: value for key, value in optional.items() if value is not None},
        **call.extra,
    }


def api_key(entry: ModelEntry) -> str | None:
    """The key for this model, None where LiteLLM looks for it itself. A server of one's own may need none.

    Raises `ProviderFault` where there is none, or the server is not known to be meant.
    """
    try:
        refuse_stranger(entry)
        value = key_value(entry)
    except UserError as error:
        raise ProviderFault(Fault.AUTH, str(error)) from None
    return value or ("none" if entry.base_url else None)
