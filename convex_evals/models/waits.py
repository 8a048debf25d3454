"""What requests wait for, so that people can be told: another attempt after a fault, or an answer to come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from convex_evals.models.faults import ProviderFault
from convex_evals.render.numbers import rough_duration
from convex_evals.text import counted, shortened

# A provider that is silent for less is no news: reasoning takes its time.
_QUIET_SECONDS = 20.0
_LONGEST_REASON = 60


@dataclass
class _Wait:
    """One request that waits, in seconds of the clock."""

    model: str
    since: float  # when it began, or was last heard of
    fault: str | None = None  # what the last attempt ended with; None: an attempt is under way
    until: float = 0.0  # when the next attempt follows


@dataclass
class Waits:
    """All requests of a command that wait."""

    clock: Callable[[], float] = time.monotonic  # seconds
    _open: list[_Wait] = field(default_factory=list)

    @contextmanager
    def after(self, fault: ProviderFault, model: str, seconds: float) -> Iterator[None]:
        """Note a request that is sent again in so many seconds, for as long as the context is open."""
        now = self.clock()
        reason = shortened(f"{fault.fault.word}: {fault}".partition("\n")[0], _LONGEST_REASON)
        with self._noted(_Wait(model, now, reason, now + seconds)):
            yield

    @contextmanager
    def answer_of(self, model: str) -> Iterator[Callable[[], None]]:
        """Note a request that was sent; what is yielded is called whenever something of the answer arrives."""
        wait = _Wait(model, self.clock())

        def heard() -> None:
            wait.since = self.clock()

        with self._noted(wait):
            yield heard

    def line(self) -> str | None:
        """Say who lets how many requests wait, why and for how long; None where there is nothing to tell.

        `stub/model: 3 requests failed (rate_limit: slow down), sent again in 30 s; acme/x: no answer to 1 request for
        2 min`
        """
        now = self.clock()
        groups: dict[tuple[str, str | None], list[_Wait]] = {}
        for wait in self._open:
            if wait.fault or now - wait.since >= _QUIET_SECONDS:
                groups.setdefault((wait.model, wait.fault), []).append(wait)
        return "; ".join(self._told(model, fault, waits) for (model, fault), waits in groups.items()) or None

    def _told(self, model: str, fault: str | None, waits: list[_Wait]) -> str:
        now, requests = self.clock(), counted(len(waits), "request")
        if fault is None:
            return f"{model}: no answer to {requests} for {rough_duration(now - min(w.since for w in waits))}"
        left = max(0.0, min(w.until for w in waits) - now)
        return f"{model}: {requests} failed ({fault}), sent again in {rough_duration(left)}"

    @asynccontextmanager
    async def told(self, show: Callable[[str | None], None]) -> AsyncIterator[None]:
        """Call `show` with the line every second, for as long as the context is open."""

        async def tell() -> None:
            while True:
                await asyncio.sleep(1)
                show(self.line())

        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()

    @contextmanager
    def _noted(self, wait: _Wait) -> Iterator[None]:
        self._open.append(wait)
        try:
            yield
        finally:
            self._open = [each for each in self._open if each is not wait]
