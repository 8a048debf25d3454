"""A proxy in front of a deployment that loses, doubles and delays what passes through it."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests import patience
from tests.loopback import serving

_LATE_SECONDS = 1.0
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Fault(StrEnum):
    """What becomes of one request."""

    CUT_BEFORE = "cut_before"  # the connection ends, the request was not sent on
    CUT_AFTER = "cut_after"  # sent on, but the connection ends without the answer
    DELAY = "delay"
    TWICE = "twice"  # sent on twice, the second answer is given
    LATE = "late"  # the connection ends; the request is sent on a second later
    UNAVAILABLE = "unavailable"  # 503, not sent on
    LOST_GATEWAY = "lost_gateway"  # sent on, but answered with 504
    TOO_MANY = "too_many"  # 429 with Retry-After, not sent on


@dataclass(frozen=True)
class Passed:
    """One request as it came."""

    path: str  # of the URL
    function: str | None  # "admin:startRun", where it calls one
    fault: Fault | None


Choice = Callable[[int, str], Fault | None]  # by the request's number, from 1, and what it asks for


@dataclass
class FaultyProxy:
    """Faults of a deployment. `choose` is asked for each request; requests are numbered from the last `plan` on."""

    target: str
    url: str = ""
    redacts: bool = False  # what functions throw is told as production deployments tell it: not at all
    rewrites: bool = True  # addresses of the deployment in its answers become the proxy's
    delay_seconds: float = 0.3
    retry_after: str = "0"
    passed: list[Passed] = field(default_factory=list)
    _choose: Choice = lambda _number, _asked: None
    _late: list[threading.Timer] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def plan(self, choose: Choice) -> None:
        """From now on, numbering from 1 again."""
        with self._lock:
            self._choose = choose
            self.passed.clear()

    def nth(self, number: int, fault: Fault) -> None:
        """One fault, at the request `number`."""
        self.plan(lambda n, _: fault if n == number else None)

    def calls(self, function: str, fault: Fault, *, times: int = 1) -> None:
        """The fault at the first calls of one function, or at the first uploads ("upload")."""
        left = [fault] * times
        self.plan(lambda _, asked: left.pop() if asked == function and left else None)

    def seeded(self, seed: int, chance: float) -> None:
        """Any fault, at each request with a chance."""
        rng = random.Random(seed)
        self.plan(lambda *_: rng.choice(list(Fault)) if rng.random() < chance else None)

    def faultless(self) -> None:
        self.plan(lambda *_: None)

    def settle(self) -> None:
        """Wait until everything late has arrived."""
        for timer in self._late:
            timer.join()

    def decide(self, path: str, body: bytes) -> Fault | None:
        function = _function(body) if path.startswith(("/api/query", "/api/mutation")) else None
        with self._lock:
            fault = self._choose(len(self.passed) + 1, function or "upload")
            self.passed.append(Passed(path, function, fault))
        return fault

    def send_late(self, send: Callable[[], object]) -> None:
        def sent() -> None:
            with suppress(OSError, http.client.HTTPException):
                send()

        timer = threading.Timer(_LATE_SECONDS, sent)
        timer.daemon = True
        timer.start()
        self._late.append(timer)

    def rewritten(self, body: bytes) -> bytes:
        """An answer in which the deployment has the proxy's address, so that uploads pass through it, too."""
        if self.rewrites:
            body = body.replace(self.target.encode(), self.url.encode())
        return _redacted(body) if self.redacts else body


def _function(body: bytes) -> str | None:
    with suppress(ValueError, KeyError, TypeError):
        return str(json.loads(body)["path"])
    return None


def _redacted(body: bytes) -> bytes:
    with suppress(ValueError):
        answer = json.loads(body)
        if isinstance(answer, dict) and "errorMessage" in answer:
            return json.dumps({**answer, "errorMessage": "[Request ID: 0123456789abcdef] Server Error"}).encode()
    return body


@contextmanager
def faulty_proxy(target: str) -> Iterator[FaultyProxy]:
    """A proxy on loopback in front of the deployment at the URL `target`."""
    proxy = FaultyProxy(target)

    class Handler(_Handler):
        faults = proxy

    with serving(Handler) as port:
        proxy.url = f"http://127.0.0.1:{port}"
        try:
            yield proxy
        finally:
            proxy.settle()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    faults: FaultyProxy

    def do_GET(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        match self.faults.decide(self.path, body):
            case Fault.CUT_BEFORE:
                self._cut()
            case Fault.CUT_AFTER:
                self._send_on(body)
                self._cut()
            case Fault.LATE:
                self.faults.send_late(lambda: self._send_on(body))
                self._cut()
            case Fault.UNAVAILABLE:
                self._answer(503, b"unavailable")
            case Fault.LOST_GATEWAY:
                self._send_on(body)
                self._answer(504, b"no answer in time")
            case Fault.TOO_MANY:
                self._answer(429, b"too many requests", {"retry-after": self.faults.retry_after})
            case fault:
                if fault is Fault.DELAY:
                    time.sleep(self.faults.delay_seconds)
                if fault is Fault.TWICE:
                    self._send_on(body)
                self._answer(*self._send_on(body))

    def _send_on(self, body: bytes) -> tuple[int, bytes, dict[str, str]]:
        target = urlsplit(self.faults.target)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=patience.seconds(60))
        try:
            connection.request(self.command, self.path, body, headers)
            answer = connection.getresponse()
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP_BY_HOP}
            return answer.status, self.faults.rewritten(answer.read()), kept
        finally:
            connection.close()

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response_only(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _cut(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
