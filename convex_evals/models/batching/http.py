"""Requests to a batch interface: to the servers and with the headers that the model's own requests have."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from convex_evals.models.exceptions import fault_of
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.guard import Guard, guarded
from convex_evals.records.models import ModelEntry

_SECONDS = 120.0  # for one request, and between two pieces of a response
_TOKENS = 64_000  # the least that the limits of a body are made for
_VALUES_PER_REQUEST = 1_000  # of the JSON of a result


class BatchGone(Exception):
    """The provider has nothing by this name (HTTP 404)."""


@dataclass(frozen=True)
class BatchClient:
    """Sends requests for one model."""

    entry: ModelEntry
    headers: Mapping[str, str]
    asks: Callable[[str], bool]  # whether a request may go to an address
    most_output_tokens: int  # of one reply

    async def get(self, url: str, query: Mapping[str, str] | None = None, requests: int = 0) -> dict[str, Any]:
        """Return a JSON object, with the results of so many requests. Raises `ProviderFault` and `BatchGone`."""
        return await self._json("GET", url, self._guard(requests), params=dict(query or {}))

    async def post(self, url: str, **content: Any) -> dict[str, Any]:
        """Send `content`, as httpx takes it, and return a JSON object. Raises `ProviderFault` and `BatchGone`."""
        return await self._json("POST", url, self._guard(0), **content)

    async def lines(self, url: str, requests: int) -> AsyncGenerator[dict[str, Any], None]:
        """Yield the JSON objects of a file, a line each, with the results of so many requests.

        Raises `ProviderFault` and `BatchGone`.
        """
        guard = self._guard(requests)
        guard.by_line = True
        try:
            async with guarded(guard), self._client() as client, client.stream("GET", url) as response:
                await _refuse_errors(response)
                rest = b""
                async for piece in response.aiter_bytes():
                    *whole, rest = (rest + piece).split(b"\n")
                    for line in whole:
                        if line.strip():
                            yield _object(json.loads(line))
                if rest.strip():
                    yield _object(json.loads(rest))
        except GeneratorExit:
            raise
        except Exception as error:
            raise self._fault(error, guard) from None

    async def _json(self, method: str, url: str, guard: Guard, **content: Any) -> dict[str, Any]:
        try:
            async with guarded(guard), self._client() as client:
                response = await client.request(method, url, **content)
                await _refuse_errors(response)
                return _object(response.json())
        except Exception as error:
            raise self._fault(error, guard) from None

    def _client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(headers=dict(self.headers), timeout=_SECONDS)

    def _guard(self, requests: int) -> Guard:
        one = Guard.of_tokens(max(self.most_output_tokens, _TOKENS), web_search=False, asks=self.asks)
        return Guard(
            most_text=one.most_text * max(1, requests),
            most_bytes=one.most_bytes * max(1, requests),
            most_events=2 * requests + 1_000,
            asks=self.asks,
            most_values=one.most_values + _VALUES_PER_REQUEST * requests,
        )

    def _fault(self, error: Exception, guard: Guard) -> Exception:
        if isinstance(error, BatchGone):
            return error
        status = getattr(error, "status_code", None)
        if status in (400, 409, 413, 422):
            known = fault_of(error, self.entry)
            return ProviderFault(Fault.REQUEST if known.fault is Fault.SERVER else known.fault, str(known))
        return guard.fault or fault_of(error, self.entry)


class _Refused(Exception):
    """A response that is an error; `fault_of` reads it like LiteLLM's."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(f"HTTP {response.status_code}: {response.text}")
        self.status_code, self.response = response.status_code, response


async def _refuse_errors(response: httpx.Response) -> None:
    if response.status_code >= 400:
        await response.aread()
        raise BatchGone(str(response.url.path)) if response.status_code == 404 else _Refused(response)


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ProviderFault(Fault.MALFORMED, "a response that is no JSON object")
    return value
