"""Providers that mean harm, each a real HTTP server: what they do ends their own request, and nothing else."""

from __future__ import annotations

import asyncio
import json
import math
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.models import Ask, servers
from convex_evals.models import exceptions as exceptions_module
from convex_evals.models import provider as provider_module
from convex_evals.models.budget import Budget
from convex_evals.models.charge import charge
from convex_evals.models.faults import Fault, ModelStopped, ProviderFault
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.price import Tariff
from convex_evals.models.provider import Call, stream
from convex_evals.models.retries import ModelSolver
from convex_evals.records import Usage
from convex_evals.records.models import ModelEntry, Parameters, Price
from convex_evals.records.reply import TrialReply
from convex_evals.store.replies import ReplyFile
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval, load_suite
from tests.factories import make_eval
from tests.provider import REPLY, Provider, serve

pytestmark = pytest.mark.full

PRICE = Price(input=10, output=100)
Api = Literal["chat", "responses"]
_KEY = "a-planted-key-0123456789"
_ANTHROPIC = "anthropic/claude-sonnet-4-5"


@dataclass
class Bench:
    """A model at the stub."""

    stub: Provider
    ev: Eval
    folder: Path
    budget: Budget
    api: Api = "chat"
    litellm: str = "openai/model"

    def solver(self) -> ModelSolver:
        entry = ModelEntry(
            slug="stub/model",
            litellm=self.litellm,
            base_url=self.stub.url,
            api=self.api,
            key_env="STUB_KEY",
            parameters=Parameters(max_output_tokens=100),
        )
        return ModelSolver(entry, Tariff(PRICE), 100, ProviderLimit(8), self.budget, first_pause=0.01)

    async def ask(self, trial: int = 1) -> TrialReply:
        log = ReplyFile(self.folder / f"{trial}.jsonl")
        try:
            return await self.solver().respond(Ask(self.ev, trial, "key", Prompt("", f"task {trial}")), log)
        finally:
            log.close()


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider()) as provider:
        yield provider


@pytest.fixture
def bench(stub: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("STUB_KEY", _KEY)
    load_litellm()
    make_eval(tmp_path)
    return Bench(stub, load_suite(tmp_path).evals[0], tmp_path / "replies", Budget(None))


async def _watched(work: asyncio.Task[TrialReply]) -> tuple[TrialReply, float]:
    """The reply, and the longest time for which other tasks had to wait, in seconds of this thread's work."""
    worst = 0.0
    while not work.done():
        before = time.thread_time()
        await asyncio.sleep(0.01)
        worst = max(worst, time.thread_time() - before)
    return await work, worst


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
        return await _watched(asyncio.ensure_future(bench.ask()))

    reply, worst = asyncio.run(scenario())
    assert reply.response is None and reply.generation.attempts[0].fault == _TOO_MUCH[way].word
    assert worst < 2, "other tasks were kept waiting"
    assert _peak_mib() - before < 150
    assert bench.stub.sent < 60_000_000


def test_events_are_counted(bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "many_events"

    async def scenario() -> tuple[TrialReply, float]:
        return await _watched(asyncio.ensure_future(bench.ask()))

    reply, worst = asyncio.run(scenario())
    assert [a.fault for a in reply.generation.attempts] == [Fault.OVER_LIMIT.word]
    assert worst < 2


@pytest.fixture
def anthropic_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a model of Anthropic's be asked at the stub, where `refuse_stranger` would stop it."""
    monkeypatch.setattr(servers, "_COMPATIBLE", frozenset({"openai", "anthropic"}))


@pytest.mark.parametrize("way", ["endless", "endless_line", "gzip_bomb", "deep", "many_values", "redirects"])
def test_it_holds_for_other_clients_of_litellm(way: str, bench: Bench, anthropic_anywhere: None) -> None:
    """Anthropic's replies are read by LiteLLM itself, OpenAI's by an SDK."""
    bench.litellm = _ANTHROPIC
    bench.stub.behave = lambda n, body: way
    bench.stub.elsewhere = bench.stub.url
    with pytest.raises(ProviderFault) as fault:
        asyncio.run(stream(bench.solver().entry, Call([{"role": "user", "content": "x"}], 100, False, {}), print))
    assert fault.value.fault is (Fault.REDIRECT if way == "redirects" else Fault.OVER_LIMIT)


@pytest.mark.parametrize("way", ["hidden_values", "long_number", "endless_headers", "long_header"])
def test_what_cannot_be_read_brings_no_reply(way: str, bench: Bench) -> None:
    bench.stub.behave = lambda n, body: way if n == 0 else "context"

    async def scenario() -> tuple[TrialReply, float]:
        return await _watched(asyncio.ensure_future(bench.ask()))

    reply, worst = asyncio.run(scenario())
    assert reply.response is None and reply.generation.attempts[0].fault is not None
    assert worst < 2


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("litellm", ["openai/model", _ANTHROPIC])
def test_no_key_goes_where_a_redirect_leads(api: Api, litellm: str, bench: Bench, anthropic_anywhere: None) -> None:
    bench.api, bench.litellm = api, litellm
    with serve(Provider()) as thief:
        bench.stub.behave = lambda n, body: "redirects"
        bench.stub.elsewhere = f"{thief.url}/chat/completions"
        with pytest.raises(ModelStopped, match="base_url"):
            asyncio.run(bench.ask())
        assert len(bench.stub.requests) == 1 and _KEY in str(bench.stub.headers[0])
        assert not thief.requests


@pytest.mark.parametrize("before", [*range(230, 300, 7), 3_990])
def test_no_part_of_a_key_is_left_of_an_error(before: int, bench: Bench) -> None:
    """Messages are cut, and a key on the edge would be cut with them."""
    bench.stub.behave = lambda n, body: "quotes_key_late"
    bench.stub.reply = "x" * before
    reply = asyncio.run(bench.ask())
    told = reply.generation.model_dump_json()
    assert reply.response is None and _KEY[:8] not in told


@pytest.mark.parametrize("change", [str.upper, str.title])
def test_a_key_is_found_however_it_is_spelled(change: Callable[[str], str], bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "says_reply"
    bench.stub.reply = f"no: {change(_KEY)}"
    told = asyncio.run(bench.ask()).generation.model_dump_json()
    assert "[key]" in told and "planted" not in told.lower()


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_reply_that_quotes_the_key_is_none(api: Api, bench: Bench) -> None:
    """It would be a file, and may be published; it comes in pieces."""
    bench.api = api
    bench.stub.reply = f"Here it is: Bearer {_KEY}\n"
    bench.stub.behave = lambda n, body: "ok" if n == 0 else "context"
    reply = asyncio.run(bench.ask())
    assert reply.response is None and reply.generation.attempts[0].fault == Fault.MALFORMED.word
    assert "quotes the API key" in str(reply.generation.attempts[0].message)
    assert all(_KEY.encode() not in path.read_bytes() for path in bench.folder.rglob("*"))


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


_TEXT = REPLY * 20  # 1,160 bytes: at least 73 tokens
_ODD: dict[str, dict[str, Any]] = {
    "none": {},
    "zero": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "negative": {"prompt_tokens": -1_000, "completion_tokens": -1_000_000, "total_tokens": -5},
    "one": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    "huge": {"prompt_tokens": 10, "completion_tokens": 10**30, "total_tokens": 10**30},
    "free": {"prompt_tokens": 10, "completion_tokens": 90, "total_tokens": 100, "cost": 0},
    "nearly free": {"prompt_tokens": 10, "completion_tokens": 90, "total_tokens": 100, "cost": 1e-12},
    "a loan": {"prompt_tokens": 10, "completion_tokens": 90, "total_tokens": 100, "cost": -100},
    "a fortune": {"prompt_tokens": 10, "completion_tokens": 90, "total_tokens": 100, "cost": 1e300},
    "all cached": {"prompt_tokens": 10, "completion_tokens": 90, "prompt_tokens_details": {"cached_tokens": 10**9}},
}


@pytest.mark.parametrize("name", _ODD)
def test_a_budget_holds_whatever_is_reported(name: str, bench: Bench) -> None:
    bench.stub.usage, bench.stub.reply = _ODD[name], _TEXT
    bench.stub.behave = lambda n, body: "odd_usage"
    bench.budget = Budget(0.05)

    async def everything() -> list[TrialReply]:
        return await asyncio.gather(*(bench.ask(trial) for trial in range(1, 21)))

    replies = asyncio.run(everything())
    received = [r.generation for r in replies if r.response is not None]
    assert received and all(0 < g.cost_usd < 0.02 for g in received)
    assert 3 <= len(received) <= 7, "each costs about 0.009"
    assert bench.budget.spent == pytest.approx(sum(g.cost_usd for g in received)) and bench.budget.spent <= 0.05


@pytest.mark.parametrize("usage", [{"prompt_tokens": "12", "completion_tokens": "x"}, {"completion_tokens": math.nan}])
def test_usage_that_is_no_number(usage: dict[str, Any], bench: Bench) -> None:
    bench.stub.usage = usage
    bench.stub.behave = lambda n, body: "odd_usage" if n == 0 else "ok"
    generation = asyncio.run(bench.ask()).generation
    assert generation.received and generation.cost_usd > 0
    json.dumps(generation.model_dump(mode="json"), allow_nan=False)


def test_honest_figures_are_taken_as_they_are() -> None:
    tariff = Tariff(PRICE)
    usage = Usage(input_tokens=1_000, output_tokens=400, cached_tokens=900, reasoning_tokens=100)
    for dollars in (0.01, 0.05, None):
        charged = charge("x" * 1_200, usage, dollars, tariff=tariff, prompt="y" * 4_000, max_output_tokens=1_000)
        assert charged.usage == usage and charged.estimated == (dollars is None)
        assert charged.dollars == (tariff.cost(usage) if dollars is None else dollars)


@given(
    st.text(max_size=200),
    st.tuples(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7)),
    st.none() | st.floats(min_value=0, allow_nan=False),
)
def test_no_figures_make_a_reply_free_or_ruinous(
    text: str, tokens: tuple[int, int, int], dollars: float | None
) -> None:
    usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1], cached_tokens=tokens[2])
    tariff = Tariff(PRICE)
    charged = charge(text, usage, dollars, tariff=tariff, prompt="a prompt", max_output_tokens=500)
    written = Usage(input_tokens=1, output_tokens=len(text.encode("utf-8", "replace")) // 16)
    assert tariff.cost(written) <= charged.dollars
    assert charged.usage.output_tokens <= 3_000 and charged.usage.cached_tokens <= charged.usage.input_tokens


def test_text_that_no_file_could_hold_is_stored(bench: Bench) -> None:
    bench.stub.reply = "\x00\x1b[2J\x07 \ud800 \u202e # Files \r\n\x85\u2028 end"
    reply = asyncio.run(bench.ask())
    assert reply.response == "\x00\x1b[2J\x07 \ufffd \u202e # Files \r\n\x85\u2028 end"
    again = asyncio.run(bench.ask())
    assert again.response == reply.response and len(bench.stub.requests) == 1
