"""Time limits of steps, on a clock that stands still while this process does.

Several projects are graded in one event loop. While something of ours blocks it, no answer of a child is read; were
that time counted, one project could let others run out of theirs. A loop that stands still is a fault of ours, and
logged.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

_TICK_SECONDS = 0.05
# Less is what a busy machine does.
_LEAST_COUNTED = 0.1
_LOGGED_FROM = 1.0
_MOST_LOGGED = 5  # lines of one event loop


@dataclass
class LoopClock:
    """How often and for how long one event loop stood still, as far as a limit was running."""

    blocks: int = 0  # of a second or more
    longest: float = 0.0  # seconds
    _limits: set[asyncio.Timeout] = field(default_factory=set)
    _expected: float = 0.0
    _next: asyncio.TimerHandle | None = None

    def enter(self, limit: asyncio.Timeout) -> None:
        self._limits.add(limit)
        if self._next is None:
            self._schedule()

    def leave(self, limit: asyncio.Timeout) -> None:
        self._limits.discard(limit)
        if not self._limits and self._next is not None:
            self._next.cancel()
            self._next = None

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._expected = loop.time() + _TICK_SECONDS
        self._next = loop.call_at(self._expected, self._tick)

    def _tick(self) -> None:
        # Timers that fell due while the loop stood still run in the order of their times: this one before all limits
        # that had more than a tick left.
        late = asyncio.get_running_loop().time() - self._expected
        if late > _LEAST_COUNTED:
            self._give_back(late)
        self._schedule()

    def _give_back(self, seconds: float) -> None:
        self.longest = max(self.longest, seconds)
        for limit in self._limits:
            when = limit.when()
            if when is not None and not limit.expired():
                limit.reschedule(when + seconds)
        if seconds >= _LOGGED_FROM:
            self.blocks += 1
            if self.blocks <= _MOST_LOGGED:
                logging.getLogger(__name__).warning(
                    "this process stood still for %.1f s; the steps under way were given that time back", seconds
                )


_CLOCKS: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClock] = WeakKeyDictionary()


def loop_clock() -> LoopClock:
    """Of the event loop that runs."""
    return _CLOCKS.setdefault(asyncio.get_running_loop(), LoopClock())


@asynccontextmanager
async def step_timeout(seconds: float) -> AsyncIterator[None]:
    """`asyncio.timeout`, not counting the time for which the event loop stood still. Raises `TimeoutError`."""
    clock = loop_clock()
    async with asyncio.timeout(seconds) as limit:
        clock.enter(limit)
        try:
            yield
        finally:
            clock.leave(limit)
