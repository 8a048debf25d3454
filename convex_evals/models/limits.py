"""How many requests a provider gets at the same time: as many as it takes without complaint.

No provider says how much it takes, and what it takes changes by the hour, so the limit is found by trying: each reply
raises it a little, each "too many requests" (HTTP 429) halves it. Of the linear rules, additive increase and
multiplicative decrease is the one by which several clients of a provider, say two commands with the same key, come to
equal shares, and none pushes the others out (Chiu and Jain, 1989). A trace, below a ceiling of 8:

    time    event                             allowed  under way
    0 s     the first requests are sent       4        4
    2-4 s   four replies, one by one          4.92     4   each adds 1 / allowed: as many replies as are allowed at a
    5 s     a fifth                           5.12     5   time raise the limit by about one, whether it is 4 or 40
    6-9 s   five more                         6.03     6
    10 s    one 429, with Retry-After: 5      3.02     5   nothing is sent before 15 s; what is under way goes on
    10.2 s  two more                          3.02     3   these were sent at the same moment and say the same thing:
                                                           halving for each of them would leave 1 of 6
    13 s    three replies to the others       3.92     0   the provider wants silence until 15 s, and gets it
    15 s    three requests are sent           3.92     3

`allowed` is a fraction so that every reply counts; requests are whole, so it is rounded down where they are sent. It
never falls below one: a provider that complains about a single request gets time by Retry-After, and by the pauses
between attempts in `retries`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

_FIRST = 4.0
_SHRINK_ONCE_IN = 1.0  # seconds: a burst of complaints about one moment is one complaint


@dataclass
class ProviderLimit:
    """The limit of one provider, which all its models share. The user sets the ceiling."""

    ceiling: int
    allowed: float = 0.0
    under_way: int = 0
    not_before: float = 0.0  # monotonic seconds: Retry-After
    _shrunk_at: float = field(default=-1e9)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        self.allowed = self.allowed or min(_FIRST, float(self.ceiling))

    @asynccontextmanager
    async def turn(self, halted: asyncio.Event) -> AsyncIterator[None]:
        """Wait for a turn; the request goes inside. Once `halted` is set, waiting ends and nothing is to be sent."""
        async with self._changed:
            while not halted.is_set():
                pause = self.not_before - time.monotonic()
                if pause <= 0 and self.under_way < int(self.allowed):
                    break
                await _first(pause if pause > 0 else None, self._changed.wait(), halted.wait())
            self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            await self._tell()

    async def went_well(self) -> None:
        """A reply came: one more at a time after about as many replies as are allowed at a time."""
        self.allowed = min(float(self.ceiling), self.allowed + 1 / max(self.allowed, 1.0))
        await self._tell()

    async def too_many(self, retry_after: float | None) -> None:
        """The provider said 429."""
        now = time.monotonic()
        if now - self._shrunk_at >= _SHRINK_ONCE_IN:
            self.allowed = max(1.0, self.allowed / 2)
            self._shrunk_at = now
        if retry_after:
            self.not_before = max(self.not_before, now + retry_after)
        await self._tell()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


async def _first(seconds: float | None, *waits: Coroutine[Any, Any, Any]) -> None:
    """Until one of `waits` ends, or the time does."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        # A condition has its lock back only when its wait is over.
        await asyncio.gather(*tasks, return_exceptions=True)
