from __future__ import annotations

import asyncio
import logging
import time

import pytest

from convex_evals.clock import loop_clock, step_timeout


async def _answer(seconds: float) -> str:
    """As a child's answer: it comes after a while, and is there only when the loop has time for it."""
    async with step_timeout(1.0):
        for _ in range(10):
            await asyncio.sleep(seconds / 10)
        return "an answer"


@pytest.mark.full
def test_a_step_does_not_lose_the_time_that_a_neighbour_blocks() -> None:
    async def scenario() -> tuple[str, int, float]:
        step = asyncio.ensure_future(_answer(0.5))
        await asyncio.sleep(0.1)
        time.sleep(2)  # noqa: ASYNC251 - what a neighbour's data does
        return await step, loop_clock().blocks, loop_clock().longest

    answer, blocks, longest = asyncio.run(scenario())
    assert answer == "an answer" and blocks == 1 and 1.5 < longest < 10


def test_short_blocks_count_as_well() -> None:
    async def scenario() -> str:
        step = asyncio.ensure_future(_answer(0.5))
        for _ in range(5):
            await asyncio.sleep(0.06)
            time.sleep(0.3)  # noqa: ASYNC251
        return await step

    assert asyncio.run(scenario()) == "an answer"


@pytest.mark.parametrize("block", [0.0, 0.5])
def test_a_step_that_takes_too_long_still_ends(block: float) -> None:
    async def scenario() -> float:
        started = time.monotonic()
        step = asyncio.ensure_future(_answer(60))
        await asyncio.sleep(0.1)
        time.sleep(block)  # noqa: ASYNC251
        with pytest.raises(TimeoutError):
            await step
        return time.monotonic() - started

    assert 0.95 + block <= asyncio.run(scenario()) < 30


@pytest.mark.full
def test_a_block_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> None:
        async with step_timeout(10):
            await asyncio.sleep(0.1)
            for _ in range(7):
                time.sleep(1.05)  # noqa: ASYNC251
                await asyncio.sleep(0.1)
            assert loop_clock().blocks == 7

    with caplog.at_level(logging.WARNING):
        asyncio.run(scenario())
    assert len(caplog.records) == 5 and "stood still for 1." in caplog.text


def test_nothing_ticks_without_a_limit() -> None:
    async def scenario() -> int:
        async with step_timeout(1), step_timeout(2):
            pass
        return len([h for h in asyncio.get_running_loop()._scheduled if not h.cancelled()])  # type: ignore[attr-defined]

    assert asyncio.run(scenario()) == 0
