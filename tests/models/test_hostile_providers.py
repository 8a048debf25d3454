"""Replies without end, and others that are none: a fault of the provider, in bounded time and memory."""

from __future__ import annotations

import asyncio
import resource

import pytest

from convex_evals.models import exceptions as exceptions_module
from convex_evals.models import provider as provider_module
from convex_evals.models.faults import Fault, ProviderFault
from convex_evals.models.provider import Call, stream
from convex_evals.records.reply import TrialReply
from tests.models.bench import ANTHROPIC, Api, Bench, watched

pytestmark = pytest.mark.full


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


_TOO_MUCH = {
    "endless": Fault.OVER_LIMIT,
    "endless_comments": Fault.OVER_LIMIT,
    "endless_line": Fault.OVER_LIMIT,
    "endless_event": Fault.OVER_LIMIT,
    "endless_json": Fault.OVER_LIMIT,
    "endless_error": Fault.SERVER,
    "gzip_bomb": Fault.OVER_LIMIT,
    "deflate_bomb": Fault.OVER_LIMIT,
    "bomb_in_error": Fault.SERVER,
    "twice_compressed": Fault.OVER_LIMIT,
    "deep": Fault.OVER_LIMIT,
    "many_values": Fault.OVER_LIMIT,
}


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("way", _TOO_MUCH)
def test_too_much_is_the_providers_fault(way: str, api: Api, bench: Bench) -> None:
    bench.api = api
    bench.stub.behave = lambda n, body: way if n == 0 else "server_error"
    before = _peak_mib()

    async def scenario() -> tuple[TrialReply, float]:
        return await watched(asyncio.ensure_future(bench.ask()))

    reply, worst = asyncio.run(scenario())
    assert reply.response is None and reply.generation.attempts[0].fault == _TOO_MUCH[way].word
    assert worst < 2, "other tasks were kept waiting"
    assert _peak_mib() - before < 150
    assert bench.stub.sent < 60_000_000


def test_events_are_counted(bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "many_events"

    async def scenario() -> tuple[TrialReply, float]:
        return await watched(asyncio.ensure_future(bench.ask()))

    reply, worst = asyncio.run(scenario())
    assert [a.fault for a in reply.generation.attempts] == [Fault.OVER_LIMIT.word]
    assert worst < 2


@pytest.mark.parametrize("way", ["endless", "endless_line", "gzip_bomb", "deep", "many_values", "redirects"])
def test_it_holds_for_other_clients_of_litellm(way: str, bench: Bench, anthropic_anywhere: None) -> None:
    """Anthropic's replies are read by LiteLLM itself, OpenAI's by an SDK."""
    bench.litellm = ANTHROPIC
    bench.stub.behave = lambda n, body: way
    bench.stub.elsewhere = bench.stub.url
    with pytest.raises(ProviderFault) as fault:
        asyncio.run(stream(bench.solver().entry, Call([{"role": "user", "content": "x"}], 100, False, {}), print))
    assert fault.value.fault is (Fault.REDIRECT if way == "redirects" else Fault.OVER_LIMIT)


@pytest.mark.parametrize("way", ["hidden_values", "long_number", "endless_headers", "long_header"])
def test_what_cannot_be_read_brings_no_reply(way: str, bench: Bench) -> None:
    bench.stub.behave = lambda n, body: way if n == 0 else "context"

    async def scenario() -> tuple[TrialReply, float]:
        return await watched(asyncio.ensure_future(bench.ask()))

    reply, worst = asyncio.run(scenario())
    assert not reply.response and (reply.generation.fault or reply.generation.attempts[0].fault)
    assert worst < 2


def test_a_reply_that_drips_for_ever_ends(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_module, "LONGEST_WAIT", 2.0)
    monkeypatch.setattr(provider_module, "SECONDS_PER_TOKEN", 0.0)
    bench.stub.behave = lambda n, body: "drips" if n == 0 else "ok"
    generation = asyncio.run(bench.ask()).generation
    assert [a.fault for a in generation.attempts] == [Fault.TIMEOUT.word, None]


@pytest.mark.parametrize("way", ["waits_for_years", "waits_till_never", "waits_nan"])
def test_nobody_waits_for_years(way: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exceptions_module, "LONGEST_RETRY_AFTER", 0.2)
    bench.stub.behave = lambda n, body: way if n == 0 else "ok"
    generation = asyncio.run(bench.ask()).generation
    assert [a.fault for a in generation.attempts] == [Fault.RATE_LIMIT.word, None]


@pytest.mark.parametrize(("way", "fault"), [("strange_finish", Fault.MALFORMED), ("breaks_off", Fault.SERVER)])
def test_finish_reasons_that_are_none(way: str, fault: Fault, bench: Bench) -> None:
    bench.stub.behave = lambda n, body: way if n == 0 else "ok"
    generation = asyncio.run(bench.ask()).generation
    assert [a.fault for a in generation.attempts] == [fault.word, None]


def test_text_that_no_file_could_hold_is_stored(bench: Bench) -> None:
    bench.stub.reply = "\x00\x1b[2J\x07 \ud800 \u202e # Files \r\n\x85\u2028 end"
    reply = asyncio.run(bench.ask())
    assert reply.response == "\x00\x1b[2J\x07 \ufffd \u202e # Files \r\n\x85\u2028 end"
    again = asyncio.run(bench.ask())
    assert again.response == reply.response and len(bench.stub.requests) == 1
