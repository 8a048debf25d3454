"""How often something may be done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class TokenBucket:
    """`most` at once, and as many again in each minute. For one thread at a time."""

    most: int
    clock: Callable[[], float] = time.monotonic
    _left: float = field(default=-1.0)
    _at: float = 0.0

    def wait(self) -> float:
        """Take one. 0 where there was one, else the seconds until there is."""
        now, per_second = self.clock(), self.most / 60
        self._left = float(self.most) if self._left < 0 else min(self.most, self._left + (now - self._at) * per_second)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / per_second
