"""A hard cap in dollars: the worst price of a request is set aside before it is sent, and settled after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from convex_evals.models.faults import Fault, ProviderFault

_ROUNDING = 1e-12


@dataclass
class Reservation:
    """What one request may cost. Unsettled, the worst counts: we do not know better."""

    worst: float
    spent: float | None = None

    def settle(self, dollars: float) -> None:
        self.spent = dollars


@dataclass
class Budget:
    """Dollars for the runs of one command, with what earlier commands spent on them. `limit` None: no cap."""

    limit: float | None = None
    spent: float = 0.0
    reserved: float = 0.0
    refused: list[float] = field(default_factory=list)  # the worst price of each request that did not fit
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    @asynccontextmanager
    async def reserve(self, worst: float) -> AsyncIterator[Reservation]:
        """Set `worst` dollars aside for one request, when requests under way turn out cheap enough.

        Raises `ProviderFault` where they do not fit even then.
        """
        async with self._changed:
            while not self._fits(worst):
                if self.reserved <= _ROUNDING:
                    self.refused.append(worst)
                    raise ProviderFault(
                        Fault.BUDGET, f"the request may cost ${worst:.4f}, and ${self.left:.4f} of the budget are left"
                    )
                await self._changed.wait()
            self.reserved += worst
        reservation = Reservation(worst)
        try:
            yield reservation
        finally:
            self.reserved -= worst
            self.spent += worst if reservation.spent is None else reservation.spent
            async with self._changed:
                self._changed.notify_all()

    @asynccontextmanager
    async def taken_up(self, worst: float, *, is_counted: bool) -> AsyncIterator[Reservation]:
        """For a request that was sent before; `is_counted` if its worst price is part of what is `spent`."""
        if not is_counted:
            self.spent += worst
        reservation = Reservation(worst)
        try:
            yield reservation
        finally:
            if reservation.spent is not None:
                self.spent += reservation.spent - worst
            async with self._changed:
                self._changed.notify_all()

    @property
    def left(self) -> float:
        """Dollars that are neither spent nor set aside; what was spent may be more than the limit."""
        return max(0.0, (self.limit or 0) - self.spent - self.reserved)

    def _fits(self, worst: float) -> bool:
        return self.limit is None or self.spent + self.reserved + worst <= self.limit + _ROUNDING
