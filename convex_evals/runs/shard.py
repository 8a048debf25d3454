"""A shard: the share of a run's evals that one of several processes does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from convex_evals.errors import UserError

if TYPE_CHECKING:
    from convex_evals.runs.costs import Estimate

# What one shard is worth.
_CALLS = 100
_DOLLARS = 10.0


@dataclass(frozen=True)
class Shard:
    """The `number`-th of `of` shares, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def share(self, eval_ids: Iterable[str]) -> tuple[str, ...]:
        """Every `of`-th eval in the order of their ids: shards differ by at most one eval, in total and by category."""
        return tuple(sorted(eval_ids))[self.number - 1 :: self.of]


def shards_for(expected: Estimate, most: int) -> int:
    """How many shards work of this size is worth: each has to be set up, and none should take hours."""
    worth = max(expected.calls / _CALLS, (expected.usual_usd or 0.0) / _DOLLARS)
    return max(1, min(most, ceil(worth)))


def parse_shard(text: str) -> Shard:
    """`I/N`. Raises `UserError`."""
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UserError(f"--shard {text}: not a shard; write I/N with 1 <= I <= N, such as 3/8")
    return Shard(int(match[1]), int(match[2]))
