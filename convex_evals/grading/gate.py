"""Many at a time, or one alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Gradings go through together; one that must be undisturbed waits for the others and then holds them off."""

    def __init__(self, places: int) -> None:
        self._places = asyncio.Semaphore(places)
        self._inside = 0
        self._turn = asyncio.Lock()
        self._empty = asyncio.Event()
        self._empty.set()

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """One of at most `places` at a time, so that a grading that has to be alone waits for few."""
        async with self._places:
            async with self._turn:
                self._inside += 1
                self._empty.clear()
            try:
                yield
            finally:
                self._inside -= 1
                if self._inside == 0:
                    self._empty.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        async with self._turn:
            await self._empty.wait()
            yield
