"""Prepare one request of a batch and understand its result, both through LiteLLM.

LiteLLM knows the bodies of each provider's requests and responses, but has no batch interface for most of them. So it
is called as for a single request, and something else takes the server's place: it keeps what was to be sent, and later
responds with what the batch brought.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import httpx

from convex_evals.models.arriving import ArrivingReply
from convex_evals.models.batching.interface import BatchResult
from convex_evals.models.exceptions import fault_of
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.guard import Guard, guarded
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.provider import Call, arguments_of
from convex_evals.models.servers import asks_its_own, sent_keys
from convex_evals.records.models import ModelEntry
from convex_evals.records.reply import Reply

# What a request to the same server needs besides its body.
_HEADERS = (
    *("authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "anthropic-beta"),
    *("openai-organization", "openai-project"),
)


@dataclass(frozen=True)
class SingleRequest:
    """A request as it would be sent alone."""

    url: str
    headers: dict[str, str]  # with the key
    body: dict[str, Any]


class _NotSent(BaseException):
    """Ends a request before it is sent; LiteLLM takes its time with ordinary exceptions."""


async def prepare(entry: ModelEntry, call: Call) -> SingleRequest:
    """Return what a single request for `call` would be. Raises `ProviderFault`."""
    kept: list[httpx.Request] = []

    def keep(request: httpx.Request) -> httpx.Response:
        kept.append(request)
        raise _NotSent

    guard = _guard(entry, call, keep)
    try:
        await _complete(entry, call, guard)
    except _NotSent:
        pass
    except Exception as error:
        raise guard.fault or fault_of(error, entry) from None
    request = kept[0]
    body = json.loads(request.content)
    body.pop("stream", None)
    headers = {name: request.headers[name] for name in _HEADERS if name in request.headers}
    return SingleRequest(str(request.url), headers, body)


async def understand(entry: ModelEntry, call: Call, result: BatchResult) -> Reply:
    """Return the reply in the result of `call`. Raises `ProviderFault` if there is none."""
    if result.body is None:
        raise ProviderFault(Fault.UNPROCESSED, result.message)
    data = json.dumps(result.body).encode()
    headers = {"content-type": "application/json"}
    guard = _guard(entry, call, lambda _: httpx.Response(result.status, headers=headers, content=data))
    arriving = ArrivingReply(guard, sent_keys(entry), lambda _: None)
    try:
        response = await _complete(entry, call, guard)
        reply = arriving.whole(response, refused=_is_refusal(result.body))
    except Exception as error:
        raise guard.fault or fault_of(error, entry) from None
    # How long it took says nothing of the model.
    return replace(reply, duration_ms=0, first_token_ms=None)


async def _complete(entry: ModelEntry, call: Call, guard: Guard) -> Any:
    litellm = await asyncio.to_thread(load_litellm)
    async with guarded(guard):
        return await litellm.acompletion(**arguments_of(entry, call, stream=False))


def _guard(entry: ModelEntry, call: Call, responder: Callable[[httpx.Request], httpx.Response]) -> Guard:
    guard = Guard.of_tokens(call.max_output_tokens, web_search=call.web_search, asks=partial(asks_its_own, entry))
    guard.responder = responder
    return guard


def _is_refusal(body: dict[str, Any]) -> bool:
    """Look for OpenAI's mark, which LiteLLM leaves out of the reply."""
    choices, output = body.get("choices"), body.get("output")
    messages = [each.get("message") for each in _objects(choices)]
    parts = [part for item in _objects(output) for part in _objects(item.get("content"))]
    return any(isinstance(m, dict) and m.get("refusal") for m in messages) or any(
        part.get("type") == "refusal" for part in parts
    )


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
