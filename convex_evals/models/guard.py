"""Where a request may go, and what may come back: no more than a reply can be, in pieces that can be read.

`receive` is for our own requests. Every client that LiteLLM uses sends through httpx (its own, and those of the SDKs
below it), so this stands there: while `guarded` is open, requests go to servers of the provider only and ask for no
compression, redirects are refused, and bodies pass a filter that counts and hands on one event at a time. What a limit
ends is the provider's fault, kept in the guard: readers of a stream wrap exceptions as they like.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NoReturn

import httpx

from convex_evals.models.bodies import Counted, Decompressed, ErrorBody, EventStream, Filter, WholeBody
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.hosts import origin

_MIB = 1024 * 1024
# No tokenizer of a current model has a token of more bytes: a run of blanks.
_MOST_BYTES_PER_TOKEN = 128
# An event for each token, with all that providers put around it.
_EVENT_BYTES = 1024
_EVENTS_PER_TOKEN = 8
_MOST_HEADERS, _LARGEST_HEADERS = 128, 64 * 1024
_STREAMS = ("text/event-stream", "ndjson", "stream+json", "jsonl")
_BINARY_STREAM = "application/vnd.amazon.eventstream"


@dataclass
class Guard:
    """The limits of one request, and why it was ended."""

    most_text: int  # bytes of the reply's text
    most_bytes: int  # of the body, decompressed
    most_events: int
    asks: Callable[[str], bool]  # whether a request may go to this address
    most_values: int = 50_000  # of the JSON of one event
    by_line: bool = False  # bodies are lines of JSON, whatever they are called
    responder: Callable[[httpx.Request], httpx.Response] | None = None  # takes the server's place: nothing is sent
    fault: ProviderFault | None = None
    server: str | None = None  # origin of the last request
    responses: list[httpx.Response] = field(default_factory=list)  # of clients that do not block

    @classmethod
    def of_tokens(cls, most_output_tokens: int, *, web_search: bool, asks: Callable[[str], bool]) -> Guard:
        """For a reply of at most so many tokens; results of a search come with it."""
        text = 64 * 1024 + _MOST_BYTES_PER_TOKEN * most_output_tokens
        return cls(
            most_text=text,
            most_bytes=4 * _MIB + text + _EVENT_BYTES * most_output_tokens + (32 * _MIB if web_search else 0),
            most_events=5_000 + _EVENTS_PER_TOKEN * most_output_tokens,
            asks=asks,
        )

    @classmethod
    def of_bytes(cls, most: int, most_values: int, asks: Callable[[str], bool]) -> Guard:
        """For an answer in one piece."""
        return cls(most_text=most, most_bytes=most, most_events=1, asks=asks, most_values=most_values)

    @property
    def most_of_one(self) -> int:
        """Bytes of one event, which may have all of the text in it, escaped, and of a body in one piece."""
        return min(self.most_bytes, _MIB + 2 * self.most_text)

    def refuse(self, fault: Fault, message: str) -> NoReturn:
        self.fault = self.fault or ProviderFault(fault, message)
        raise self.fault

    def let_out(self, request: httpx.Request) -> None:
        """Prepare a request. Raises `ProviderFault`, before anything is sent, where it would go to another server."""
        if not self.asks(str(request.url)):
            self.refuse(Fault.WRONG_SERVER, f"{request.url.scheme}://{request.url.netloc.decode()}: nothing was sent")
        self.server = origin(str(request.url))
        request.headers["accept-encoding"] = "identity"

    def admit(self, response: httpx.Response) -> Filter:
        """What the body has to pass. Raises `ProviderFault` where not even the headers are in order."""
        if 300 <= response.status_code < 400:
            self.refuse(Fault.REDIRECT, f"HTTP {response.status_code}: the provider sends us to another address")
        headers = response.headers.raw
        if len(headers) > _MOST_HEADERS or sum(len(k) + len(v) for k, v in headers) > _LARGEST_HEADERS:
            self.refuse(Fault.OVER_LIMIT, f"{len(headers)} headers")
        kind = response.headers.get("content-type", "").lower()
        inner: Filter
        if response.status_code >= 400:
            inner = ErrorBody()
        elif _BINARY_STREAM in kind:
            inner = Counted(self)
        elif self.by_line or any(word in kind for word in _STREAMS):
            inner = EventStream(self, by_line="event-stream" not in kind)
        else:
            inner = WholeBody(self)
        return self._decompressed(response, inner)

    def _decompressed(self, response: httpx.Response, inner: Filter) -> Filter:
        """Providers that compress although we ask them not to are read all the same, a piece at a time."""
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        if encoding in ("identity", ""):
            return inner
        if encoding not in ("gzip", "deflate"):
            self.refuse(Fault.OVER_LIMIT, f"a body compressed by {encoding[:40]!r}, which was not asked for")
        return Decompressed(self, inner)


_OPEN: ContextVar[Guard | None] = ContextVar("guard", default=None)


@asynccontextmanager
async def guarded(guard: Guard) -> AsyncIterator[None]:
    """Apply `guard` to what is requested inside, in this task, and in those and the threads that it starts.

    No connection for it is open afterwards, not even one that its reader left behind.
    """
    _install()
    token = _OPEN.set(guard)
    try:
        yield
    finally:
        _OPEN.reset(token)
        for response in guard.responses:
            with suppress(Exception):
                await response.aclose()


async def receive(
    client: httpx.AsyncClient, guard: Guard, seconds: float, method: str, url: str, **content: Any
) -> httpx.Response:
    """Send a request, and read the whole answer in so many seconds.

    Raises `ProviderFault` for what `guard` does not let pass, `TimeoutError`, and the exceptions of httpx.
    """
    async with asyncio.timeout(seconds), guarded(guard):
        return await client.request(method, url, **content)


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, passing: Filter) -> None:
        self._inner, self._passing = inner, passing

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._inner:
                for piece in self._passing.feed(data):
                    yield piece
                    # Readers take what is there without a pause, and other tasks would wait for as long.
                    await asyncio.sleep(0)
                if self._passing.done:
                    break
            for piece in self._passing.end():
                yield piece
        finally:
            await self._inner.aclose()

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Body(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, passing: Filter) -> None:
        self._inner, self._passing = inner, passing

    def __iter__(self) -> Iterator[bytes]:
        try:
            for data in self._inner:
                yield from self._passing.feed(data)
                if self._passing.done:
                    break
            yield from self._passing.end()
        finally:
            self._inner.close()

    def close(self) -> None:
        self._inner.close()


@cache
def _install() -> None:
    """Have all clients of httpx ask the guard that is open. Those that send without one are left as they are."""
    httpx.AsyncClient.send = _guarded_async(httpx.AsyncClient.send)  # type: ignore[method-assign]
    httpx.Client.send = _guarded_sync(httpx.Client.send)  # type: ignore[method-assign]


def _guarded_async(
    send: Callable[..., Coroutine[Any, Any, httpx.Response]],
) -> Callable[..., Coroutine[Any, Any, httpx.Response]]:
    async def guarded_send(
        client: httpx.AsyncClient, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        guard = _OPEN.get()
        if guard is None:
            return await send(client, request, stream=stream, **options)
        guard.let_out(request)
        if guard.responder:
            response = guard.responder(request)
            response.request = request
        else:
            response = await send(client, request, stream=True, **{**options, "follow_redirects": False})
        guard.responses.append(response)
        try:
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = _AsyncBody(response.stream, guard.admit(response))
            if not stream:
                await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response

    return guarded_send


def _guarded_sync(send: Callable[..., httpx.Response]) -> Callable[..., httpx.Response]:
    def guarded_send(
        client: httpx.Client, request: httpx.Request, *, stream: bool = False, **options: Any
    ) -> httpx.Response:
        guard = _OPEN.get()
        if guard is None:
            return send(client, request, stream=stream, **options)
        guard.let_out(request)
        response = send(client, request, stream=True, **{**options, "follow_redirects": False})
        try:
            assert isinstance(response.stream, httpx.SyncByteStream)
            response.stream = _Body(response.stream, guard.admit(response))
            if not stream:
                response.read()
        except BaseException:
            response.close()
            raise
        return response

    return guarded_send
