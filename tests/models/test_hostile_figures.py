"""Figures that a provider reports: they make no reply free or ruinous."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.models.budget import Budget
from convex_evals.models.charge import charge
from convex_evals.models.price import Tariff
from convex_evals.records import Usage
from convex_evals.records.reply import TrialReply
from tests.models.bench import PRICE, Bench
from tests.provider import REPLY

pytestmark = pytest.mark.full

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
