"""What requests that are still to be made cost."""

from __future__ import annotations

from dataclasses import dataclass

from convex_evals.render.results import dollars
from convex_evals.text import plural


@dataclass(frozen=True)
class CostEstimate:
    """What is still to be asked."""

    calls: int
    usual_usd: float | None  # None: the price of a model is not known
    most_usd: float | None

    @property
    def words(self) -> str:
        calls = f"{self.calls:,} {plural(self.calls, 'call')}"
        if self.usual_usd is None or self.most_usd is None:
            return f"{calls}, no price known"
        return f"{calls}, usually {dollars(self.usual_usd)}, at most {dollars(self.most_usd)}"
