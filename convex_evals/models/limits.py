"""How many requests a provider gets at the same time: as many as it takes without complaint."""

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
    """Additive increase, multiplicative decrease (Chiu and Jain, 1989), below a ceiling that the user sets."""

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
        """Wait for a turn; the request goes inside. Once `halted` is set nobody waits, and nothing is to be sent."""
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
        """One more at a time for each round of replies."""
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
