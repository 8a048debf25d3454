"""What providers really answer to a request that goes wrong, over HTTP and LiteLLM: none is taken for another."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from convex_evals.models import provider as provider_module
from convex_evals.models import provider_words
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.provider import Call, stream
from convex_evals.records.models import ModelEntry
from convex_evals.records.reply import Reply
from tests.loopback import serving
from tests.models.recorded import AMID, ASKED, RECORDED, REPLIES, Recorded

KEY = "planted-key-of-a-provider-0123456789"


@contextmanager
def answering(status: int, body: str) -> Iterator[tuple[str, list[str]]]:
    """A provider that always gives this answer: its address, and what it was sent as a key."""
    kind = "text/event-stream" if status == 200 else "application/json"
    keys: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the test's output is the test's."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            sent = [self.headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key")]
            keys.append("".join(sent) + self.path)
            data = body.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}", keys


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Reply]:
    """A request that is the provider's in all but its address."""
    arguments = provider_module.arguments_of
    for asked in ASKED.values():
        monkeypatch.delenv(asked.key, raising=False)

    def request(provider: str, url: str) -> Reply:
        monkeypatch.setattr(provider_module, "arguments_of", lambda *given: {**arguments(*given), "api_base": url})
        monkeypatch.setenv(f"{provider.upper()}_API_BASE", url)
        call = Call([{"role": "user", "content": "x"}], 100, False, {})
        return asyncio.run(stream(ModelEntry(slug=ASKED[provider].model), call, lambda piece: None))

    return request


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
def test_recorded_answers(
    recorded: Recorded, ask: Callable[[str, str], Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ASKED[recorded.provider].key, KEY)
    body = json.dumps(recorded.body, ensure_ascii=False)
    with answering(recorded.status, body) as (url, keys), pytest.raises(ProviderFault) as caught:
        ask(recorded.provider, url)
    fault = caught.value
    assert fault.fault is recorded.fault, f"{fault.fault.word}: {fault}"
    assert len(keys) == 1 and KEY in keys[0], "asked once, with the key of this provider"
    said = next(iter(_strings(recorded.body)))
    assert str(fault)[:20] in said and KEY not in str(fault), "in the provider's words"


def test_google_says_in_words_when_to_come_back(
    ask: Callable[[str, str], Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a limit by the minute, which five attempts with pauses of seconds would not outlast."""
    monkeypatch.setenv(ASKED["gemini"].key, KEY)
    (recorded,) = [r for r in RECORDED if r.name == "gemini, too many"]
    with answering(429, json.dumps(recorded.body)) as (url, _), pytest.raises(ProviderFault) as caught:
        ask("gemini", url)
    assert caught.value.retry_after == 59


@pytest.mark.parametrize(("provider", "expected", "body"), AMID)
def test_errors_where_a_reply_should_be(
    provider: str, expected: Fault, body: str, ask: Callable[[str, str], Reply], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ASKED[provider].key, KEY)
    with answering(200, body) as (url, keys), pytest.raises(ProviderFault) as caught:
        ask(provider, url)
    assert caught.value.fault is expected, f"{caught.value.fault.word}: {caught.value}"
    assert len(keys) == 1 and "Metadata" not in str(caught.value)


def test_each_phrase_is_on_record() -> None:
    bodies = [json.dumps(r.body, ensure_ascii=False) for r in RECORDED] + [body for _, _, body in AMID]
    tables = [words for _, words, _ in provider_words._STATUSES]
    for words in (*tables, provider_words._BY_THE_MINUTE, provider_words._FOR_GOOD):
        for phrase in words.phrases:
            assert any(phrase.search(body) for body in bodies), phrase.pattern


@pytest.mark.parametrize("provider", ASKED)
def test_replies(provider: str, ask: Callable[[str, str], Reply], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASKED[provider].key, KEY)
    with answering(200, REPLIES[provider]) as (url, keys):
        reply = ask(provider, url)
    assert reply.text == "Hello there" and (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 50)
    assert reply.finish_reason in ("stop", "end_turn", "STOP") and len(keys) == 1 and KEY in keys[0]
    assert reply.cost_usd is None, "an estimate of LiteLLM's is not the provider's figure"


@pytest.mark.parametrize("provider", ASKED)
def test_no_key(provider: str, ask: Callable[[str, str], Reply]) -> None:
    with answering(200, REPLIES[provider]) as (url, keys), pytest.raises(ProviderFault) as caught:
        ask(provider, url)
    assert caught.value.fault is Fault.AUTH and str(caught.value) == f"{ASKED[provider].key} is not set"
    assert keys == [], "nothing is sent"


def _strings(body: Any) -> Iterator[str]:
    """What is told, by whatever name."""
    for name in ("message", "error", "detail"):
        if isinstance(body.get(name), str):
            yield body[name]
    if isinstance(body.get("error"), dict):
        yield from _strings(body["error"])
