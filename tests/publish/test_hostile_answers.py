"""A deployment is not trusted: whatever it answers ends in one line, within limits."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest

from convex_evals.publish import probes
from convex_evals.publish.client import Patience, _thrown
from tests.conftest import Invoke
from tests.loopback import serving
from tests.publish.deployed import Deployment
from tests.publish.faulty_proxy import FaultyProxy
from tests.publish.publications import NAME, TOKEN_ENV, make_home, only_error

pytestmark = pytest.mark.grading

RUN = "default-00000001"
MANY = 400  # digits


class _Hostile(BaseHTTPRequestHandler):
    respond: ClassVar[Callable[[Any, str], None]]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))["path"]
        with suppress(ConnectionError):
            self.respond(asked)

    def begin(self, headers: dict[str, str]) -> None:
        self.send_response_only(200)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def answer(self, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.begin({**(headers or {}), "content-length": str(len(body))})
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def hostile(respond: Callable[[_Hostile, str], None]) -> Iterator[str]:
    class Handler(_Hostile):
        pass

    Handler.respond = lambda self, asked: respond(self, asked)
    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}"


def value(found: object) -> bytes:
    return json.dumps({"status": "success", "value": found}).encode()


GOOD = {
    "auth:tokenScopes": {"scopes": ["publish"]},
    "admin:checkAssetHash": {"exists": False, "storageId": None},
    "admin:ensureModelFromSlug": "m",
    "runs:listRuns": [],
}


def always(body: bytes, headers: dict[str, str] | None, handler: _Hostile, _asked: str) -> None:
    handler.answer(body, headers)


def endless(handler: _Hostile, _asked: str) -> None:
    handler.begin({})
    while True:
        handler.wfile.write(b" " * 65536)


def dripping(handler: _Hostile, _asked: str) -> None:
    import time

    handler.begin({})
    while True:
        handler.wfile.write(b" ")
        time.sleep(0.02)


def many_headers(handler: _Hostile, _asked: str) -> None:
    handler.answer(value(None), {f"x-{n}": "y" for n in range(90)} | {f"z-{n}": "y" * 900 for n in range(60)})


def listing(created: str) -> bytes:
    run = f'{{"_id": "r", "_creationTime": {created}, "runId": "x"}}'
    return b'{"status": "success", "value": [%s]}' % run.encode()


DEEP = b'{"status": "success", "value": ' + b"[" * 100_000
FIXED: list[tuple[str, Callable[[_Hostile, str], None], str]] = [
    ("deep", partial(always, DEEP, None), "nested deeper"),
    ("wide", partial(always, b'{"value": [' + b"{}," * 600_000 + b"{}]}", None), "values"),
    ("endless", endless, "more than"),
    ("dripping", dripping, "nobody answers there (no whole answer within 1 s)"),
    ("headers", many_headers, "headers"),
    ("bomb", partial(always, b"\x1f\x8b" + bytes(100), {"content-encoding": "gzip"}), "compressed"),
    ("number", partial(always, value(None).replace(b"null", b"9" * 5000), None), "no answer after"),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    monkeypatch.setenv(TOKEN_ENV, "a-token")
    patience = Patience(pause_seconds=0.01, longest_pause_seconds=0.02, settle_seconds=0.05, first_answer_seconds=1)
    monkeypatch.setattr(probes, "PATIENCE", patience)
    made = make_home(tmp_path, "http://127.0.0.1:1")
    made.add_run(RUN)

    def at(url: str) -> None:
        settings = {"deployments": {NAME: {"url": url, "token_env": TOKEN_ENV}}}
        (tmp_path / "convex-evals.yaml").write_text(json.dumps(settings), encoding="utf-8")

    return at


@pytest.mark.parametrize(("respond", "said"), [pytest.param(*row[1:], id=row[0]) for row in FIXED])
def test_answers_without_end_or_measure(
    home: Callable[[str], None], invoke: Invoke, respond: Callable[[_Hostile, str], None], said: str
) -> None:
    with hostile(respond) as url:
        home(url)
        result = invoke("publish", "--all")
    assert result.status == 1 and said in only_error(result.err) and "bug in" not in result.err


DATES = {
    "late": "Fri, 31 Dec 9999 23:59:59 -2359",
    "zone": "Thu, 01 Jan 1970 00:00:00 +9999999999",
    "none": "Mon, 32 Jan 0000 99:99:99 GMT",
    "digits": "9" * MANY,
    "empty": "",
}


@pytest.mark.parametrize("date", DATES.values(), ids=DATES)
def test_headers_that_overflow(home: Callable[[str], None], invoke: Invoke, date: str) -> None:
    with hostile(partial(always, b"{}", {"date": date})) as url:
        home(url)
        result = invoke("publish", "--all")
    assert result.status == 1 and "check that the URL is a Convex deployment's" in only_error(result.err)

    def busy(handler: _Hostile, _asked: str) -> None:
        handler.send_response_only(503)
        handler.send_header("retry-after", date)
        handler.send_header("content-length", "0")
        handler.end_headers()

    with hostile(busy) as url:
        home(url)
        result = invoke("publish", "--all")
    assert result.status == 1 and only_error(result.err) and "bug in" not in result.err


@pytest.mark.parametrize("created", [pytest.param("9" * MANY, id="many"), "-1", "1e308", "9" * 17])
def test_times_that_are_none(home: Callable[[str], None], invoke: Invoke, created: str) -> None:
    asked_before = []

    def respond(handler: _Hostile, asked: str) -> None:
        asked_before.append(asked)
        # What is asked of the runs of a model, behind the two questions that come first.
        is_listing = asked == "runs:listRuns" and "admin:ensureModelFromSlug" in asked_before
        handler.answer(listing(created) if is_listing else value(GOOD.get(asked)))

    with hostile(respond) as url:
        home(url)
        result = invoke("publish", "--all")
    assert result.status == 1 and "is no time" in only_error(result.err)


def test_files_go_to_the_deployment_alone(
    deployment: Deployment, proxy: FaultyProxy, home: Callable[[str], None], invoke: Invoke, monkeypatch: Any
) -> None:
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    home(proxy.url)
    proxy.rewrites = False  # its upload URLs lead to another port
    result = invoke("publish", "--all")
    assert result.status == 1 and "its upload URL is of another server" in only_error(result.err)
    assert deployment.everything()["files"] == []
    proxy.rewrites = True
    assert invoke("publish", "--all").status == 0


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("[Request ID: 0a1b] Server Error", "[Request ID: 0a1b] Server Error"),
        (
            "[Request ID: 0a1b] Server Error\nUncaught Error: Invalid authentication token\n    at requireToken "
            "(../convex/auth.ts:1:2)\n    at async handler (../convex/admin.ts:3:4)\n",
            "Invalid authentication token",
        ),
        ("Uncaught ConvexError: no\n  Called by client", "ConvexError: no"),
        ("ArgumentValidationError: Value is\n\nnot an id", "ArgumentValidationError: Value is not an id"),
        ("\n at nowhere", "\n at nowhere"),
    ],
)
def test_what_a_function_threw_is_told_without_the_stack(message: str, words: str) -> None:
    assert _thrown({"errorMessage": message}) == words


def test_data_of_an_error_are_told() -> None:
    assert (
        _thrown({"errorMessage": "[Request ID: 0a1b] Server Error", "errorData": "File not found"}) == "File not found"
    )
    assert _thrown({"errorMessage": "Uncaught Error: no", "errorData": {"code": 1}}) == "no"
    assert _thrown({}) == "no message"
