"""A provider on the loopback that speaks OpenAI's streaming protocols, and misbehaves on request."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import serving
from tests.wire import Event, Wire, question, wire_of

# Nothing of it gets past the first step, so grading costs no time.
NO_FILES = "There is nothing to write.\n" * 20
REPLY = '# Files\n\n## package.json\n\n```json\n{"name": "x"}\n```\n'
Behaviour = Callable[[int, dict[str, Any]], str]


def models_yaml(url: str) -> str:
    """models.yaml with one model, `stub/model`, that the provider at `url` answers for."""
    return f"""models:
  - slug: stub/model
    litellm: openai/model
    base_url: {url}
    key_env: STUB_KEY
    price: {{input: 10, output: 100}}
    parameters: {{max_output_tokens: 100}}
"""


@dataclass
class Provider:
    """`behave(n, body)` names what happens to the n-th request, from 0: a key of `_Handler.WAYS`."""

    behave: Behaviour = lambda n, body: "ok"
    reply: str = REPLY
    answer: Callable[[dict[str, Any]], str] | None = None  # instead of `reply`, to each request its own
    requests: list[dict[str, Any]] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)  # the last user message of each reply that was sent whole
    headers: list[dict[str, str]] = field(default_factory=list)
    port: int = 0
    pause: float = 0.0  # seconds between two pieces
    searches: int = 0  # that each reply reports
    elsewhere: str = ""  # where requests are redirected to
    usage: dict[str, Any] | None = None  # that is reported instead of a true one
    sent: int = 0  # bytes of bodies
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> str:
        with self._lock:
            n = len(self.requests)
            self.requests.append(body)
            self.headers.append(headers)
        return self.behave(n, body)


@contextmanager
def serve(provider: Provider) -> Iterator[Provider]:
    class Handler(_Handler):
        state = provider

    with serving(Handler) as provider.port:
        yield provider


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Provider

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test's output is the test's."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.wire: Wire = wire_of(self.path)
        self.body = body
        way = self.state.take(body, dict(self.headers))
        try:
            self.WAYS[way](self)
            if way == "ok":
                self.state.finished.append(question(body))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # -- what may happen --

    def _ok(self) -> None:
        answer = self.state.answer
        self._stream(answer(self.body) if answer else self.state.reply, "stop")

    def _stream(self, text: str, finish: str, usage: dict[str, Any] | None = None) -> None:
        self._begin()
        if self.state.searches:
            self._events(self.wire.searches(self.state.searches))
        for piece in (text[i : i + 20] for i in range(0, len(text), 20)):
            self._events(self.wire.text(piece))
            time.sleep(self.state.pause)
        self._end(finish, usage or {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150})

    def _status(self, status: int, message: str, headers: dict[str, str] | None = None, code: str = "") -> None:
        data = json.dumps({"error": {"message": message, "type": code or "error", "code": code}}).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _rate_limit(self) -> None:
        self._status(429, "slow down", {"retry-after": "0.05"})

    def _much_later(self) -> None:
        self._status(429, "slow down", {"retry-after": "40"})

    def _server_error(self) -> None:
        self._status(500, "oops")

    def _quotes_key(self) -> None:
        self._status(500, f"cannot serve {self.headers['authorization']} now")

    def _quotes_key_late(self) -> None:
        self._status(500, f"{self.state.reply} {self.headers['authorization'].removeprefix('Bearer ')} now")

    def _says_reply(self) -> None:
        self._status(500, self.state.reply)

    def _overloaded(self) -> None:
        self._status(503, "overloaded")

    def _auth(self) -> None:
        self._status(401, "Incorrect API key provided: sk-planted-key-1234567890", code="invalid_api_key")

    def _quota(self) -> None:
        self._status(429, "You exceeded your current quota", code="insufficient_quota")

    def _unknown_model(self) -> None:
        self._status(404, "The model does not exist", code="model_not_found")

    def _context(self) -> None:
        self._status(
            400, "This model's maximum context length is 10 tokens, reduce the prompt", code="context_length_exceeded"
        )

    def _reset(self) -> None:
        self.connection.close()
        self.close_connection = True

    def _cut(self) -> None:
        """In the middle of a chunked body."""
        self._begin()
        self._events(self.wire.text("# Fil"))
        self.wfile.flush()
        self.connection.close()
        self.close_connection = True

    def _cut_politely(self) -> None:
        """The body ends properly, the reply does not."""
        self._begin()
        self._events(self.wire.text("# Fil"))
        self._raw(b"0\r\n\r\n")

    def _malformed(self) -> None:
        self._begin()
        self._data('{"id": "x", "choices": [{')
        self._data("[DONE]")
        self._raw(b"0\r\n\r\n")

    def _empty(self) -> None:
        self._stream("", "stop")

    def _zero(self) -> None:
        self._stream("", "stop", {"prompt_tokens": 100, "completion_tokens": 0, "total_tokens": 100})

    def _white_space(self) -> None:
        self._stream(" \n\u00a0\n", "stop")

    def _tool_call(self) -> None:
        self._begin()
        self._events(self.wire.tool_call())
        self._end("tool_calls", {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150})

    def _filtered(self) -> None:
        self._stream("", "content_filter")

    def _truncated(self) -> None:
        self._stream("# Files\n\n## a.ts\n\n```ts\nlet", "length")

    def _refusal(self) -> None:
        self._begin()
        self._events(self.wire.refusal("I cannot help with that."))
        self._end("stop", None)

    def _hang(self) -> None:
        self._begin()
        time.sleep(5)

    # -- what a hostile one does: `tests/models/test_hostile_providers.py` --

    def _redirects(self) -> None:
        self.send_response(307)
        self.send_header("location", self.state.elsewhere)
        self.send_header("content-length", "0")
        self.end_headers()

    def _endless(self) -> None:
        self._begin()
        while True:
            self._events(self.wire.text("and so on " * 100))

    def _endless_comments(self) -> None:
        self._begin()
        while True:
            self._raw_chunk(b": still there\n\n" * 1_000)

    def _endless_line(self) -> None:
        self._begin()
        self._raw_chunk(b'data: {"x": "')
        while True:
            self._raw_chunk(b"a" * 65536)

    def _endless_event(self) -> None:
        """Of many lines: it is read only when a blank one comes."""
        self._begin()
        while True:
            self._raw_chunk(b"data: a\n" * 8192)

    def _endless_error(self) -> None:
        self._head(500, {"content-type": "application/json"})
        self._raw_chunk(b'{"error": {"message": "')
        while True:
            self._raw_chunk(b"a" * 65536)

    def _endless_json(self) -> None:
        self._head(200, {"content-type": "application/json"})
        self._raw_chunk(b"[")
        while True:
            self._raw_chunk(b"{}," * 20_000)

    def _endless_headers(self) -> None:
        self.send_response(200)
        while True:
            self.wfile.write(b"x-a: b\r\n" * 1000)

    def _long_header(self) -> None:
        self._head(200, {"x-a": "b" * 1_000_000, "content-type": "text/event-stream"})

    def _gzip_bomb(self) -> None:
        self._bomb("gzip", 31)

    def _deflate_bomb(self) -> None:
        self._bomb("deflate", 15)

    def _bomb_in_error(self) -> None:
        self._bomb("gzip", 31, 500)

    def _twice_compressed(self) -> None:
        self._bomb("gzip, gzip", 31)

    def _bomb(self, encoding: str, window: int, status: int = 200) -> None:
        packer = zlib.compressobj(9, zlib.DEFLATED, window)
        self._head(status, {"content-type": "text/event-stream", "content-encoding": encoding})
        while True:
            self._raw_chunk(packer.compress(b"\0" * 16_000_000) + packer.flush(zlib.Z_SYNC_FLUSH))

    def _deep(self) -> None:
        self._begin()
        self._data('{"choices": ' + "[" * 100_000)
        self._end("stop", None)

    def _many_values(self) -> None:
        self._begin()
        self._data('{"choices": [' + "{}," * 300_000 + "{}]}")
        self._end("stop", None)

    def _hidden_values(self) -> None:
        """Behind a quotation mark, after what Python's readers take for the end of a line."""
        self._begin()
        self._raw_chunk(b': "\xe2\x80\xa8data: {"choices": [' + b"{}," * 300_000 + b"{}]}\n\n")
        self._end("stop", None)

    def _many_events(self) -> None:
        self._begin()
        for _ in range(400):
            self._raw_chunk(b"data: {}\n\n" * 1_000)
        self._end("stop", None)

    def _long_number(self) -> None:
        self._begin()
        self._data('{"choices": [{"index": ' + "1" * 500_000 + "}]}")
        self._end("stop", None)

    def _drips(self) -> None:
        """A piece before each time limit, for ever."""
        self._begin()
        while True:
            self._events(self.wire.text("x"))
            time.sleep(0.2)

    def _waits_for_years(self) -> None:
        self._status(429, "slow down", {"retry-after": "1e300"})

    def _waits_till_never(self) -> None:
        self._status(429, "slow down", {"retry-after": "Fri, 31 Dec 99999 23:59:59 GMT"})

    def _waits_nan(self) -> None:
        self._status(429, "slow down", {"retry-after": "nan", "retry-after-ms": "-inf"})

    def _strange_finish(self) -> None:
        self._stream(self.state.reply, "\x1b[2J" + "x" * 10_000)

    def _breaks_off(self) -> None:
        self._stream(self.state.reply, "error")

    def _odd_usage(self) -> None:
        self._stream(self.state.reply, "stop", self.state.usage)

    # -- the protocol --

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "transfer-encoding": "chunked"}.items():
            self.send_header(name, value)
        self.end_headers()

    def _raw_chunk(self, data: bytes) -> None:
        self.state.sent += len(data)
        self._raw(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        self._events(self.wire.begin())

    def _end(self, finish: str, usage: Event | None) -> None:
        self._events(self.wire.end(finish, usage))
        if self.wire.last:
            self._data(self.wire.last)
        self._raw(b"0\r\n\r\n")

    def _events(self, events: list[Event]) -> None:
        for event in events:
            self._data(json.dumps(event))

    def _data(self, text: str) -> None:
        self._raw_chunk(f"data: {text}\n\n".encode())

    def _raw(self, data: bytes) -> None:
        self.wfile.write(data)
        self.wfile.flush()

    WAYS: dict[str, Callable[[Any], None]] = {  # noqa: RUF012
        "ok": _ok,
        "rate_limit": _rate_limit,
        "much_later": _much_later,
        "server_error": _server_error,
        "quotes_key": _quotes_key,
        "quotes_key_late": _quotes_key_late,
        "says_reply": _says_reply,
        "overloaded": _overloaded,
        "auth": _auth,
        "quota": _quota,
        "unknown_model": _unknown_model,
        "context": _context,
        "reset": _reset,
        "cut": _cut,
        "cut_politely": _cut_politely,
        "malformed": _malformed,
        "empty": _empty,
        "zero": _zero,
        "white_space": _white_space,
        "tool_call": _tool_call,
        "filtered": _filtered,
        "truncated": _truncated,
        "refusal": _refusal,
        "hang": _hang,
        "redirects": _redirects,
        "endless": _endless,
        "endless_comments": _endless_comments,
        "endless_line": _endless_line,
        "endless_event": _endless_event,
        "endless_error": _endless_error,
        "endless_json": _endless_json,
        "endless_headers": _endless_headers,
        "long_header": _long_header,
        "gzip_bomb": _gzip_bomb,
        "deflate_bomb": _deflate_bomb,
        "bomb_in_error": _bomb_in_error,
        "twice_compressed": _twice_compressed,
        "deep": _deep,
        "many_values": _many_values,
        "hidden_values": _hidden_values,
        "many_events": _many_events,
        "long_number": _long_number,
        "drips": _drips,
        "waits_for_years": _waits_for_years,
        "waits_till_never": _waits_till_never,
        "waits_nan": _waits_nan,
        "strange_finish": _strange_finish,
        "breaks_off": _breaks_off,
        "odd_usage": _odd_usage,
    }
