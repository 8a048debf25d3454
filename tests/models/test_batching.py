"""Batch interfaces of OpenAI, Anthropic and Gemini: a real HTTP server that keeps count of what would be paid for."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Iterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.models import Ask, LeftBehind, servers
from convex_evals.models.attempts import ATTEMPTS
from convex_evals.models.batching import batcher
from convex_evals.models.batching.following import Following
from convex_evals.models.batching.http import BatchClient
from convex_evals.models.batching.interface import Undecided, understood
from convex_evals.models.batching.interfaces import BATCHES
from convex_evals.models.batching.providers import BATCHED
from convex_evals.models.budget import Budget
from convex_evals.models.catalog import Catalog
from convex_evals.models.faults import ModelStopped, ProviderFault, ReplyPending
from convex_evals.models.limits import ProviderLimit
from convex_evals.models.litellm_loader import load_litellm
from convex_evals.models.price import Tariff, batch_tariff_of
from convex_evals.models.provider import Call, stream
from convex_evals.models.retries import ModelSolver
from convex_evals.models.solvers import SolverFactory
from convex_evals.records.batch import BatchedRequest, BatchFile
from convex_evals.records.models import ModelEntry, Parameters, Price
from convex_evals.records.reply import TrialReply
from convex_evals.store.batches import BatchFolder
from convex_evals.store.replies import ReplyFile
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval, load_suite
from tests.batch_provider import BatchProvider, serve_batches
from tests.factories import EVAL, make_eval, make_plan
from tests.provider import REPLY, Provider, serve

KEY = "a-planted-key-0123456789"
HALF = Price(input=5, output=50)  # a reply of the stub costs 0.0005 + 0.0025
GENERATION_KEY = "0" * 64
WAYS = {
    "chat": ("openai/model", "chat", "/v1"),
    "responses": ("openai/model", "responses", "/v1"),
    "anthropic": ("anthropic/claude-sonnet-4-5", "chat", ""),
    "gemini": ("gemini/gemini-2.5-pro", "chat", "/v1beta/models/gemini-2.5-pro"),
}


@pytest.fixture
def provider() -> Iterator[BatchProvider]:
    with serve_batches(BatchProvider(key=KEY)) as found:
        yield found


@dataclass
class Bench:
    """A model whose provider has batches, and a run whose folder they are noted in."""

    provider: BatchProvider
    ev: Eval
    root: Path
    way: str = "chat"
    budget: Budget = field(default_factory=Budget)
    lines: list[str] = field(default_factory=list)
    prefix: str = ""  # where the server is said to be

    def __post_init__(self) -> None:
        self.run = RunStore(self.root / "runs").create(make_plan(model="stub/model", trials=50))

    @property
    def files(self) -> list[BatchFile]:
        return BatchFolder(self.run).files()

    def solver(self, wait_s: float | None = None, limit: int = 100) -> ModelSolver:
        name, api, path = WAYS[self.way]
        entry = ModelEntry(
            slug="stub/model",
            litellm=name,
            base_url=f"http://127.0.0.1:{self.provider.port}{path}{self.prefix}",
            api=api,
            key_env="STUB_KEY",
            parameters=Parameters(max_output_tokens=limit),
        )
        made = ModelSolver(entry, Tariff(HALF), 200, ProviderLimit(8), self.budget, first_pause=0.01, batched=True)
        made.following = Following(wait_s, self.lines.append)
        return made

    async def ask(self, solver: ModelSolver, trial: int, folder: BatchFolder | None = None) -> TrialReply:
        log = ReplyFile(self.root / "logs" / f"{trial}.jsonl")
        prompt = Prompt("Be brief.", f"task {trial}")
        folder = folder or BatchFolder(self.run)
        ticket = folder.find(self.ev.id, trial, GENERATION_KEY)
        left = LeftBehind(folder, ticket, is_counted=False) if ticket else None
        ask = Ask(self.ev, trial, GENERATION_KEY, prompt, folder, left)
        try:
            return await solver.respond(ask, log)
        finally:
            log.close()

    def command(self, trials: int = 3, wait_s: float | None = None) -> list[TrialReply | BaseException]:
        """What one command gets for all trials."""

        async def all_at_once() -> list[TrialReply | BaseException]:
            solver, folder = self.solver(wait_s), BatchFolder(self.run)
            work = [self.ask(solver, trial, folder) for trial in range(1, trials + 1)]
            return await asyncio.gather(*work, return_exceptions=True)

        return asyncio.run(all_at_once())

    def replies(self, trials: int = 3) -> list[TrialReply]:
        found = self.command(trials)
        assert all(isinstance(each, TrialReply) for each in found), found
        return found  # type: ignore[return-value]


@pytest.fixture
def bench(
    provider: BatchProvider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Bench:
    monkeypatch.setenv("STUB_KEY", KEY)
    monkeypatch.setattr(servers, "_COMPATIBLE", frozenset({"openai", "anthropic", "gemini"}))
    monkeypatch.setattr(batcher, "GATHER_SECONDS", 0.05)
    monkeypatch.setattr(batcher, "_FIRST_POLL", 0.02)
    load_litellm()
    make_eval(tmp_path)
    return Bench(provider, load_suite(tmp_path).evals[0], tmp_path, getattr(request, "param", "chat"))


every_way = pytest.mark.parametrize("bench", WAYS, indirect=True)


@every_way
def test_trials_share_a_batch_at_half_the_price(bench: Bench) -> None:
    bench.provider.answer = lambda body: f"reply to {re.findall('task .', json.dumps(body))}"
    replies = bench.replies()
    assert len(bench.provider.batches) == 1 and len(bench.provider.bodies) == 3
    assert len({r.response for r in replies}) == 3
    for reply in replies:
        generation = reply.generation
        assert generation.received and generation.finish_reason == "stop" and generation.fault is None
        assert generation.cost_usd == pytest.approx(0.003) and generation.cost_estimated
        assert (generation.usage.input_tokens, generation.usage.output_tokens) == (100, 50)
        (attempt,) = generation.attempts
        assert attempt.batch == bench.files[0].token and attempt.max_output_tokens == 100
        assert generation.duration_ms == 0 and generation.first_token_ms is None
    assert bench.budget.spent == pytest.approx(0.009)
    assert "half the price" in bench.lines[0] and KEY not in str(bench.lines)


@every_way
def test_a_batch_sends_what_a_single_request_would(bench: Bench) -> None:
    """But for streaming."""
    bench.replies(1)
    (body,) = bench.provider.bodies
    text = json.dumps(body)
    assert "task 1" in text and "Be brief." in text and "100" in text
    assert "stream_options" not in text and '"stream": true' not in text


@every_way
def test_a_reply_that_is_cut_off_is_asked_for_again(bench: Bench) -> None:
    bench.provider.outcome = lambda n, body: "length" if n == 0 else "ok"
    (reply,) = bench.replies(1)
    assert reply.generation.finish_reason == "stop" and reply.response == REPLY
    assert [a.max_output_tokens for a in reply.generation.attempts] == [100, 200]
    assert len({a.batch for a in reply.generation.attempts}) == 2 == len(bench.provider.batches)
    assert reply.generation.cost_usd == pytest.approx(0.006)


@every_way
@pytest.mark.parametrize(
    ("outcome", "fault", "cost"),
    [("error", "server_error", 0.0), ("expired", "unprocessed", 0.0), ("missing", "unprocessed", 0.0)],
)
def test_what_a_batch_did_not_bring_is_sent_in_another(bench: Bench, outcome: str, fault: str, cost: float) -> None:
    bench.provider.outcome = lambda n, body: outcome if n == 0 else "ok"
    reply, other = bench.replies(2)
    generations = sorted((reply.generation, other.generation), key=lambda g: len(g.attempts))
    assert [a.fault for a in generations[1].attempts] in ([fault, None], [fault] * 1 + [None])
    assert all(g.received for g in generations)
    assert generations[1].cost_usd == pytest.approx(0.003 + cost)


@every_way
def test_a_bad_request_is_sent_once(bench: Bench) -> None:
    bench.provider.outcome = lambda n, body: "bad"
    (reply,) = bench.replies(1)
    assert not reply.generation.received and reply.generation.fault == "bad_request"
    assert len(bench.provider.batches) == 1


def test_five_batches_at_most(bench: Bench) -> None:
    bench.provider.outcome = lambda n, body: "error"
    (reply,) = bench.replies(1)
    assert not reply.generation.received and len(bench.provider.batches) == ATTEMPTS


@every_way
def test_a_reply_without_text_counts_against_the_model(bench: Bench) -> None:
    bench.provider.outcome = lambda n, body: "empty"
    (reply,) = bench.replies(1)
    assert reply.generation.fault == "empty" and reply.generation.received and len(bench.provider.batches) == 1
    assert reply.generation.cost_usd == pytest.approx(0.003)


@pytest.mark.parametrize("bench", ["chat", "responses"], indirect=True)
def test_a_refusal_counts_against_the_model(bench: Bench) -> None:
    bench.provider.outcome = lambda n, body: "refusal"
    (reply,) = bench.replies(1)
    assert reply.generation.fault == "refused" and reply.generation.received


# -- interrupted --


@every_way
def test_a_batch_that_goes_on_is_taken_up_and_not_paid_again(bench: Bench) -> None:
    bench.provider.hold = True
    assert all(isinstance(each, ReplyPending) for each in bench.command(wait_s=0))
    (file,) = bench.files
    assert file.batch in bench.provider.batches and len(file.requests) == 3
    assert all(isinstance(each, ReplyPending) for each in bench.command(wait_s=0.1))

    bench.provider.hold = False
    replies = bench.replies()
    assert [r.response for r in replies] == [REPLY] * 3
    assert len(bench.provider.bodies) == 3, "nothing was sent twice"
    assert [r.generation.attempts[0].batch for r in replies] == [file.token] * 3


@every_way
@pytest.mark.parametrize("fault", ["create:reset_after", "create:reset"])
def test_a_batch_whose_id_was_lost_is_found(bench: Bench, fault: str) -> None:
    bench.provider.faults = [fault]
    assert [r.response for r in bench.replies()] == [REPLY] * 3
    assert len(bench.provider.bodies) == 3 and len(bench.provider.batches) == 1


@every_way
def test_killed_before_the_id_was_written(bench: Bench) -> None:
    bench.provider.hold = True
    bench.command(wait_s=0)
    (file,) = bench.files
    BatchFolder(bench.run).write(file.model_copy(update={"batch": None}))
    bench.provider.hold = False
    assert [r.response for r in bench.replies()] == [REPLY] * 3
    assert len(bench.provider.bodies) == 3 and bench.files == [file]


@every_way
def test_killed_before_it_was_submitted(bench: Bench) -> None:
    bench.provider.hold = True
    bench.command(wait_s=0)
    (file,) = bench.files
    lost = file.model_copy(update={"batch": None, "token": "1" * 16})
    BatchFolder(bench.run).remove(file.token)
    BatchFolder(bench.run).write(lost)
    bench.provider.hold = False
    replies = bench.replies()
    assert [r.response for r in replies] == [REPLY] * 3
    assert len(bench.provider.bodies) == 6 and lost.token not in {f.token for f in bench.files}


@pytest.mark.full
@every_way
@pytest.mark.parametrize("fault", ["status:500", "results:reset", "status:reset_before", "upload:503", "create:500"])
def test_a_provider_that_stumbles_costs_nothing(bench: Bench, fault: str) -> None:
    bench.provider.faults = [fault]
    replies = bench.replies()
    assert [r.response for r in replies] == [REPLY] * 3
    assert len(bench.provider.bodies) == 3
    assert sum(r.generation.cost_usd for r in replies) == pytest.approx(0.009)


def test_results_are_read_again_on_another_machine(bench: Bench) -> None:
    """Which has the run's folder, and none of the logs."""
    first = bench.replies()
    for log in (bench.root / "logs").iterdir():
        log.unlink()
    again = bench.replies()
    assert [r.response for r in again] == [r.response for r in first]
    assert len(bench.provider.bodies) == 3


def test_a_second_batch_is_taken_up_with_the_attempts_of_the_first(bench: Bench) -> None:
    def cut_off_then_hold(n: int, body: dict[str, object]) -> str:
        bench.provider.hold = True
        return "length"

    bench.provider.outcome = cut_off_then_hold

    async def until_the_second() -> None:
        work = asyncio.create_task(bench.ask(bench.solver(), 1))
        while not any(file.batch and file.requests[0].attempts for file in bench.files):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        work.cancel()

    asyncio.run(until_the_second())
    for log in (bench.root / "logs").iterdir():
        log.unlink()
    bench.provider.hold, bench.provider.outcome = False, lambda n, body: "ok"
    (reply,) = bench.replies(1)
    assert [a.max_output_tokens for a in reply.generation.attempts] == [100, 200]
    assert reply.generation.cost_usd == pytest.approx(0.006) and len(bench.provider.bodies) == 2


# -- refused --


def test_a_wrong_key_stops_the_model_and_leaves_no_file(bench: Bench) -> None:
    bench.provider.key = "another-key-0123456789"
    found = bench.command()
    assert all(isinstance(each, ModelStopped) and "check the key in STUB_KEY" in str(each) for each in found)
    assert bench.files == [] and bench.provider.bodies == []


def test_a_batch_that_is_gone_is_not_paid_again_without_being_asked(bench: Bench) -> None:
    bench.provider.hold = True
    bench.command(wait_s=0)
    bench.provider.batches.clear()
    found = bench.command()
    assert all(isinstance(each, ModelStopped) and "remove" in str(each) for each in found)
    assert len(bench.provider.bodies) == 3 and len(bench.files) == 1


def test_a_server_without_batches(bench: Bench) -> None:
    bench.prefix = "/none"
    (found,) = bench.command(1)
    assert isinstance(found, ModelStopped) and "remove batch: true" in str(found) and bench.files == []


def test_the_budget_holds_the_worst_price_of_batches(bench: Bench) -> None:
    """Each request may cost 50 output tokens' worth of 0.005 and its prompt."""
    bench.budget = Budget(0.012)
    found = bench.replies(4)
    assert sum(r.generation.received for r in found) < 4
    assert bench.budget.spent <= 0.012
    assert {r.generation.fault for r in found if not r.generation.received} == {"budget"}


def test_stopped_before_it_is_submitted(bench: Bench) -> None:
    async def stop_at_once() -> list[TrialReply | BaseException]:
        solver = bench.solver()
        work = asyncio.create_task(bench.ask(solver, 1))
        await asyncio.sleep(0.01)
        solver.stop()
        return list(await asyncio.gather(work, return_exceptions=True))

    (found,) = asyncio.run(stop_at_once())
    assert isinstance(found, ModelStopped) and bench.provider.log == [] and bench.budget.spent == 0


def test_ctrl_c_leaves_the_batch_under_way(bench: Bench) -> None:
    bench.provider.hold = True

    async def stop_later() -> list[TrialReply | BaseException]:
        solver = bench.solver()
        work = asyncio.create_task(bench.ask(solver, 1))
        while not bench.provider.batches:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        solver.stop()
        return list(await asyncio.gather(work, return_exceptions=True))

    (found,) = asyncio.run(stop_later())
    assert isinstance(found, ReplyPending) and len(bench.files) == 1


def test_batches_are_no_larger_than_the_interface_takes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    from convex_evals.models.batching.openai import OpenAIBatches

    monkeypatch.setattr(OpenAIBatches, "most_requests", 2)
    assert len(bench.replies(5)) == 5
    assert sorted(len(file.requests) for file in bench.files) == [1, 2, 2]


# -- choosing it --


def test_every_provider_that_is_named_has_its_interface() -> None:
    assert BATCHES.keys() == set(BATCHED)


def test_batch_true(monkeypatch: pytest.MonkeyPatch) -> None:
    price = Price(input=10, output=100, cached=1)
    entries = [
        ModelEntry(slug="openai/gpt-5", batch=True, price=price),
        ModelEntry(slug="groq/llama", batch=True),
    ]
    factory = SolverFactory(Catalog(tuple(entries), tuple(entries)), 8, Budget())
    plain = {"web_search": False, "extra": {}}
    batched = factory.model("openai/gpt-5", **plain)  # type: ignore[arg-type]
    assert batched.batched and batched.tariff.price == Price(input=5, output=50, cached=0.5)
    for single in (
        factory.model("openai/gpt-5", web_search=True, extra={}),
        factory.model("openai/gpt-5", **plain, at_once=True),  # type: ignore[arg-type]
    ):
        assert not single.batched and single.tariff.price == price
    with pytest.raises(Exception, match="groq/llama: batch: true works with anthropic, gemini, openai"):
        factory.model("groq/llama", **plain)  # type: ignore[arg-type]


def test_prices_of_batches_that_are_known() -> None:
    known = batch_tariff_of(ModelEntry(slug="openai/gpt-4.1")).price
    assert known is not None and known.input == pytest.approx(1.0) and known.output == pytest.approx(4.0)


def test_the_same_reply_costs_the_same_tokens_as_when_it_streams(bench: Bench) -> None:
    (batched,) = bench.replies(1)
    with serve(Provider()) as plain:
        entry = bench.solver().entry.model_copy(update={"base_url": plain.url})
        call = Call(Prompt("Be brief.", "task 1").messages(), 100, False, {})
        streamed = asyncio.run(stream(entry, call, lambda _: None))
    assert streamed.text == batched.response and streamed.usage == batched.generation.usage
    assert streamed.finish_reason == batched.generation.finish_reason


# -- hostile --

_KEYS = st.sampled_from(
    [
        *("id", "name", "status", "request_counts", "total", "completed", "output_file_id", "errors", "data"),
        *("metadata", "convex_evals", "has_more", "processing_status", "created_at", "custom_id", "result"),
        *("response", "body", "error", "type", "message", "state", "batchStats", "requestCount", "done"),
        *("inlinedResponses", "output", "operations", "displayName", "key", "code", "status_code"),
    ]
)
_WORDS = st.sampled_from(["completed", "failed", "ended", "batches/1", "x", "succeeded", "errored"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)
_OBJECT = st.dictionaries(_KEYS, _JSON, max_size=4)


@dataclass
class _Anything:
    """Responds with what the test drew."""

    objects: list[dict[str, Any]]

    async def get(self, url: str, query: object = None, requests: int = 0) -> dict[str, Any]:
        return self.objects[len(url) % len(self.objects)]

    async def post(self, url: str, **content: object) -> dict[str, Any]:
        return self.objects[len(url) % len(self.objects)]

    async def lines(self, url: str, requests: int) -> AsyncGenerator[dict[str, Any], None]:
        for each in self.objects:
            yield each


@pytest.mark.parametrize("name", BATCHES)
@given(objects=st.lists(_OBJECT, min_size=1, max_size=3))
def test_whatever_a_provider_responds_is_a_fault_at_most(name: str, objects: list[dict[str, Any]]) -> None:
    url = "https://x/v1beta/models/m:generateContent" if name == "gemini" else "https://x/v1/chat/completions"
    interface = BATCHES[name](cast(BatchClient, _Anything(objects)), url)
    request = BatchedRequest(eval=EVAL, trial=1, generation_key=GENERATION_KEY, max_output_tokens=1)
    file = BatchFile(
        token="0" * 16, model="a/b", submitted_at="2026-11-27T10:00:00.000+00:00", batch="x", requests=(request,)
    )

    async def read() -> None:
        state = await interface.state("batches/1")
        assert state.done >= 0 and state.total >= 0
        async with aclosing(interface.results(state)) as results:
            async for _, result in results:
                assert result.body is None or isinstance(result.body, dict)

    for work in (interface.submit("0" * 16, [("a", {})]), interface.find(file), read()):
        with suppress(ProviderFault, Undecided):
            asyncio.run(_as_coroutine(understood(work)))


async def _as_coroutine(work: Awaitable[object]) -> None:
    await work
