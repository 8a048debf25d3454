"""Asking models: every fault of the table, against a real HTTP server."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from convex_evals.models import Ask
from convex_evals.models import provider as provider_module
from convex_evals.models.attempts import ATTEMPTS
from convex_evals.models.budget import Budget
from convex_evals.models.faults import Fault, ModelStopped
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.price import Tariff, can_search, price_map
from convex_evals.models.provider import Call, stream
from convex_evals.models.retries import ModelSolver
from convex_evals.models.waits import Waits
from convex_evals.records.models import ModelEntry, Parameters, Price
from convex_evals.records.reply import TrialReply
from convex_evals.runs.costs import estimate
from convex_evals.runs.plan import RunRequest
from convex_evals.store.replies import ReplyFile
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval, load_suite
from tests import patience
from tests.factories import make_asked, make_eval
from tests.provider import REPLY, Provider, serve
from tests.wire import question

PRICE = Price(input=10, output=100)  # per million: a reply of the stub costs 0.001 + 0.005


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider()) as provider:
        yield provider


@dataclass
class Bench:
    """A model at the stub, and a place for replies."""

    stub: Provider
    ev: Eval
    folder: Path
    budget: Budget
    concurrency: int = 8
    api: Literal["chat", "responses"] = "chat"
    web_search: bool = False

    def solver(self, price: Price | None = PRICE) -> ModelSolver:
        entry = ModelEntry(
            slug="stub/model",
            litellm="openai/model",
            base_url=self.stub.url,
            api=self.api,
            parameters=Parameters(max_output_tokens=100),
        )
        limit = ProviderLimit(self.concurrency)
        return ModelSolver(entry, Tariff(price), 200, limit, self.budget, self.web_search, first_pause=0.01)

    def log(self, trial: int) -> ReplyFile:
        return ReplyFile(self.folder / f"{trial}.jsonl")

    async def ask(self, solver: ModelSolver, trial: int = 1) -> TrialReply:
        log = self.log(trial)
        try:
            return await solver.respond(Ask(self.ev, trial, "key", Prompt("", f"task {trial}")), log)
        finally:
            log.close()


@pytest.fixture
def bench(stub: Provider, tmp_path: Path) -> Bench:
    make_eval(tmp_path)
    return Bench(stub, load_suite(tmp_path).evals[0], tmp_path / "replies", Budget(None))


def test_a_reply_with_all_that_is_known_of_it(bench: Bench) -> None:
    reply = asyncio.run(bench.ask(bench.solver()))
    generation = reply.generation
    assert reply.response == REPLY and generation.received and generation.finish_reason == "stop"
    assert (generation.usage.input_tokens, generation.usage.output_tokens) == (100, 50)
    assert generation.cost_usd == pytest.approx(0.006) and generation.cost_estimated
    assert generation.first_token_ms is not None and generation.duration_ms >= generation.first_token_ms
    assert [a.fault for a in generation.attempts] == [None]
    (body,) = bench.stub.requests
    assert body["stream"] is True and body["max_tokens"] == 100
    assert body["messages"] == [{"role": "user", "content": "task 1"}]


def test_a_character_that_a_stream_cuts_in_two_is_whole_again(bench: Bench) -> None:
    bench.stub.reply = "x" * 19 + "\ud83d\ude00 \ud800"  # the stub sends twenty at a time
    for _ in range(2):  # from the provider, and from the log
        reply = asyncio.run(bench.ask(bench.solver()))
        assert reply.response == "x" * 19 + "\U0001f600 \ufffd"
    assert len(bench.stub.requests) == 1


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("rate_limit", Fault.RATE_LIMIT),
        ("server_error", Fault.SERVER),
        ("overloaded", Fault.SERVER),
        ("reset", Fault.CONNECTION),
        ("cut", Fault.CUT),
        ("cut_politely", Fault.CUT),
        ("malformed", Fault.MALFORMED),
        ("filtered", Fault.FILTERED),
    ],
)
def test_what_is_tried_again(way: str, fault: Fault, bench: Bench) -> None:
    bench.stub.behave = lambda n, body: way if n < 2 else "ok"
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert [a.fault for a in generation.attempts] == [fault.word, fault.word, None], generation.attempts
    assert generation.received and generation.fault is None


@pytest.mark.parametrize(
    ("way", "cost"), [("empty", 0.006), ("white_space", 0.006), ("tool_call", 0.006), ("zero", 0.001)]
)
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_finished_reply_without_text_is_the_models_failure(
    api: Literal["chat", "responses"], way: str, cost: float, bench: Bench
) -> None:
    """It is not asked for again, and its tokens are paid for all the same."""
    bench.api = api
    bench.stub.behave = lambda n, body: way
    reply = asyncio.run(bench.ask(bench.solver()))
    generation = reply.generation
    assert generation.received and generation.fault == "empty" and (reply.response or "").strip() == ""
    assert [a.fault for a in generation.attempts] == [None] and len(bench.stub.requests) == 1
    assert generation.cost_usd == bench.budget.spent == pytest.approx(cost)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_what_is_held_back_each_time_is_the_models_failure(api: Literal["chat", "responses"], bench: Bench) -> None:
    bench.api = api
    bench.stub.behave = lambda n, body: "filtered"
    reply = asyncio.run(bench.ask(bench.solver()))
    generation = reply.generation
    assert generation.received and reply.response == "" and generation.fault == "content_filter"
    assert [a.fault for a in generation.attempts] == ["content_filter"] * ATTEMPTS
    assert generation.cost_usd == bench.budget.spent == pytest.approx(ATTEMPTS * 0.006)


def test_a_reply_of_the_responses_api(bench: Bench) -> None:
    bench.api = "responses"
    reply = asyncio.run(bench.ask(bench.solver()))
    generation = reply.generation
    assert reply.response == REPLY and generation.received and generation.finish_reason == "stop"
    usage = generation.usage
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens) == (100, 40, 50, 10)
    assert generation.cost_usd == pytest.approx(0.006) and generation.first_token_ms is not None
    (body,) = bench.stub.requests
    assert body["stream"] is True and body["max_output_tokens"] == 100 and question(body) == "task 1"
    lines = [json.loads(line) for line in (bench.folder / "1.jsonl").read_text().splitlines()]
    assert "".join(line.get("text", "") for line in lines) == REPLY and len(lines) > 4, "it streamed"


@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("rate_limit", Fault.RATE_LIMIT),
        ("server_error", Fault.SERVER),
        ("reset", Fault.CONNECTION),
        ("cut", Fault.CUT),
        ("cut_politely", Fault.CUT),
        ("filtered", Fault.FILTERED),
    ],
)
def test_faults_of_the_responses_api(way: str, fault: Fault, bench: Bench) -> None:
    bench.api = "responses"
    bench.stub.behave = lambda n, body: way if n == 0 else "ok"
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert [a.fault for a in generation.attempts] == [fault.word, None], generation.attempts
    assert generation.received and generation.fault is None


@pytest.mark.parametrize(("way", "fault"), [("truncated", Fault.TRUNCATED), ("refusal", Fault.REFUSED)])
def test_failures_of_the_responses_api(way: str, fault: Fault, bench: Bench) -> None:
    bench.api = "responses"
    bench.stub.behave = lambda n, body: way
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert generation.received and generation.fault == fault.word


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_searches_are_asked_for_and_counted(api: Literal["chat", "responses"], bench: Bench) -> None:
    bench.api, bench.web_search, bench.stub.searches = api, True, 3
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert generation.searches == 3 and generation.received
    (body,) = bench.stub.requests
    assert body["tools"][0]["type"] == "web_search" if api == "responses" else body["web_search_options"]


def test_no_search_is_left_out_in_silence(bench: Bench) -> None:
    """LiteLLM knows that gpt-5 searches, and drops the request to, since its chat completions cannot."""
    entry = ModelEntry(slug="openai/gpt-5", base_url=bench.stub.url)
    able = entry.model_copy(update={"api": "responses"})
    assert not can_search(entry) and can_search(able)
    assert not can_search(ModelEntry(slug="nobody/knows"))
    asyncio.run(stream(able, Call([{"role": "user", "content": "x"}], 100, True, {}), lambda piece: None))
    (body,) = bench.stub.requests
    assert body["tools"][0]["type"] == "web_search"


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_retry_after_is_heard(api: Literal["chat", "responses"], bench: Bench) -> None:
    bench.api = api
    bench.stub.behave = lambda n, body: "rate_limit" if n == 0 else "ok"
    solver = bench.solver()
    asyncio.run(bench.ask(solver))
    assert solver.limit.not_before > 0


@pytest.mark.parametrize(("way", "fault"), [("rate_limit", Fault.RATE_LIMIT), ("cut", Fault.CUT)])
def test_a_provider_that_never_answers_is_nobodys_failure(way: str, fault: Fault, bench: Bench) -> None:
    bench.stub.behave = lambda n, body: way
    reply = asyncio.run(bench.ask(bench.solver()))
    assert reply.response is None and not reply.generation.received
    assert reply.generation.fault == fault.word and len(bench.stub.requests) == ATTEMPTS


def test_what_cannot_get_better_is_tried_once(bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "context"
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert generation.fault == Fault.CONTEXT.word and len(bench.stub.requests) == 1


@pytest.mark.full
def test_silence_is_a_timeout(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_module, "BETWEEN_SECONDS", 2.0)
    bench.stub.behave = lambda n, body: "hang" if n == 0 else "ok"
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert [a.fault for a in generation.attempts] == [Fault.TIMEOUT.word, None]


@pytest.mark.full
def test_how_long_a_provider_may_be_silent_is_chosen(bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "hang" if n == 0 else "ok"
    solver = bench.solver()
    solver.timeout = patience.seconds(2)
    generation = asyncio.run(bench.ask(solver)).generation
    assert [a.fault for a in generation.attempts] == [Fault.TIMEOUT.word, None]


def test_while_a_request_waits_it_is_said(bench: Bench) -> None:
    """For the next attempt, and for an answer."""
    bench.stub.behave = lambda n, body: "much_later" if n == 0 else "hang"
    solver = bench.solver()
    now = [0.0]
    solver.waits = Waits(lambda: now[0])

    async def look() -> list[str | None]:
        asking = asyncio.create_task(bench.ask(solver))
        while not (told := solver.waits.line()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        solver.stop()
        with suppress(ModelStopped):
            await asking
        return [told, solver.waits.line()]

    failed, after = asyncio.run(look())
    assert failed and re.match(r"stub/model: 1 request failed \(rate_limit: .+\), sent again in ", failed), failed
    assert after is None
    bench.stub.behave = lambda n, body: "hang"
    solver = bench.solver()
    solver.waits = Waits(lambda: now[0])
    solver.timeout = 60

    async def silent() -> str:
        asking = asyncio.create_task(bench.ask(solver))
        while len(bench.stub.requests) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        now[0] += 90
        told = solver.waits.line()
        asking.cancel()
        await asyncio.wait([asking])
        return str(told)

    assert asyncio.run(silent()) == "stub/model: no answer to 1 request for 2 min"


@pytest.mark.parametrize(
    ("way", "words"),
    [("auth", "check the key"), ("quota", "top up the account"), ("unknown_model", "check the name")],
)
def test_what_stops_a_model(way: str, words: str, bench: Bench) -> None:
    bench.stub.behave = lambda n, body: way
    solver = bench.solver()

    async def twice() -> None:
        with pytest.raises(ModelStopped, match=words) as stop:
            await bench.ask(solver)
        assert "planted" not in str(stop.value)
        with pytest.raises(ModelStopped):
            await bench.ask(solver, 2)

    asyncio.run(twice())
    assert len(bench.stub.requests) == 1
    assert "planted" not in bench.log(1)._path.read_text()


def test_a_cut_reply_gets_all_that_the_model_can_write(bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "truncated" if body["max_tokens"] == 100 else "ok"
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert [b["max_tokens"] for b in bench.stub.requests] == [100, 200]
    assert generation.fault is None and len(generation.attempts) == 2


def test_the_most_that_a_dry_run_tells_has_both_requests(bench: Bench) -> None:
    solver = bench.solver()
    prompts = {bench.ev.id: Prompt("", "task")}
    request = RunRequest(solver, [bench.ev], prompts, 3, make_asked(), "x", "2026-01-01", None)
    text = prompts[bench.ev.id].text
    both = sum(solver.tariff.worst(text, limit) for limit in (100, 200))
    assert estimate(request).most_usd == pytest.approx(3 * both, abs=1e-4)
    assert bench.stub.requests == []


def test_cut_at_its_own_maximum_is_the_models_failure(bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "truncated"
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert generation.received and generation.fault == Fault.TRUNCATED.word
    assert [b["max_tokens"] for b in bench.stub.requests] == [100, 200]


def test_a_refusal_is_the_models_failure(bench: Bench) -> None:
    bench.stub.behave = lambda n, body: "refusal"
    generation = asyncio.run(bench.ask(bench.solver())).generation
    assert generation.received and generation.fault == Fault.REFUSED.word and len(bench.stub.requests) == 1


@pytest.mark.full
def test_a_third_of_faults_among_two_hundred_trials(bench: Bench) -> None:
    """Every trial ends with a reply; nothing is asked once more than it must be."""
    ways = ["rate_limit", "server_error", "reset", "cut", "cut_politely", "malformed", "filtered"]
    chance = random.Random(7)
    answers = ["ok" if chance.random() >= 0.3 else chance.choice(ways) for _ in range(2000)]
    bench.stub.behave = lambda n, body: answers[n]
    bench.concurrency = 32
    solver = bench.solver()

    async def everything() -> list[TrialReply]:
        return await asyncio.gather(*(bench.ask(solver, n) for n in range(1, 201)))

    replies = asyncio.run(everything())
    sent = answers[: len(bench.stub.requests)]
    received = [r for r in replies if r.generation.received]
    assert len(received) == sent.count("ok") == len(bench.stub.finished)
    assert len(replies) - len(received) <= 3, "five attempts at 30 % fail once in 400"
    assert all(r.generation.fault is None for r in received)
    assert sum(len(r.generation.attempts) for r in replies) == len(sent)


def test_never_beyond_the_budget(bench: Bench) -> None:
    """The worst price of what is under way is set aside, so no mix of replies can exceed the cap."""
    bench.budget = Budget(0.1)
    bench.stub.behave = lambda n, body: "cut" if n % 3 == 0 else "ok"
    solver = bench.solver()

    async def everything() -> list[TrialReply]:
        return await asyncio.gather(*(bench.ask(solver, n) for n in range(1, 41)))

    replies = asyncio.run(everything())
    worst = solver.tariff.worst(Prompt("", "task 40").text, 100)
    cuts = sum(n % 3 == 0 for n in range(len(bench.stub.requests)))
    most = (len(bench.stub.requests) - cuts) * 0.006 + cuts * worst
    assert most <= 0.1 + 1e-9
    left = [r for r in replies if r.generation.fault == Fault.BUDGET.word]
    assert left and len(left) + sum(r.generation.received for r in replies) + cuts >= 40
    assert bench.budget.spent <= 0.1 + 1e-9 and bench.budget.reserved == pytest.approx(0)


def test_an_interrupted_reply_is_asked_for_again_and_a_whole_one_is_not(bench: Bench) -> None:
    asyncio.run(bench.ask(bench.solver()))
    whole = bench.log(1)._path.read_bytes()
    again = asyncio.run(bench.ask(bench.solver()))
    assert again.response == REPLY and len(bench.stub.requests) == 1
    assert again.generation.cost_usd == pytest.approx(0.006)

    ends = whole.index(b'{"end"')
    for cut in range(1, len(whole) - 1, 97):
        path = bench.log(2)._path
        path.write_bytes(whole[:cut])
        before = len(bench.stub.requests)
        reply = asyncio.run(bench.ask(bench.solver(), 2))
        assert reply.response == REPLY
        assert len(bench.stub.requests) == before + 1, f"{cut} of {ends}"
        faults = [a.fault for a in reply.generation.attempts]
        assert faults in ([None], [Fault.INTERRUPTED.word, None])
        path.unlink()


def test_429_shrinks_and_replies_grow_what_a_provider_gets() -> None:
    async def scenario() -> None:
        limit = ProviderLimit(16)
        assert limit.allowed == 4
        for _ in range(8):
            await limit.went_well()
        assert 5 < limit.allowed < 6.5
        grown = limit.allowed
        await limit.too_many(None)
        await limit.too_many(None)  # of the same moment
        assert limit.allowed == pytest.approx(grown / 2)
        for _ in range(1000):
            await limit.went_well()
        assert limit.allowed == 16

    asyncio.run(scenario())


def test_retry_after_is_waited_for() -> None:
    async def scenario() -> float:
        limit = ProviderLimit(4)
        await limit.too_many(0.2)
        start = asyncio.get_running_loop().time()
        async with limit.turn(asyncio.Event()):
            return asyncio.get_running_loop().time() - start

    assert asyncio.run(scenario()) >= 0.19


def test_litellm_is_set_up_once() -> None:
    """Each request asks for it; what is alive then must not be kept for good."""
    loaded = load_litellm()
    kept = gc.get_freeze_count()  # goes down by itself when one of them is dropped
    alive: list[list[int]] = [[] for _ in range(1000)]
    assert load_litellm() is loaded
    assert gc.get_freeze_count() < kept + len(alive)


def test_the_price_map_is_the_one_that_litellm_loads() -> None:
    loaded = load_litellm().model_cost
    both = price_map().keys() & loaded.keys()
    assert len(both) > 1000
    assert [name for name in both if price_map()[name] != loaded[name]] == []
