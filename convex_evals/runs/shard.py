"""A shard: the share of a run's evals that one of several processes does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from convex_evals.errors import UserError


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


def parse_shard(text: str) -> Shard:
    """`I/N`. Raises `UserError`."""
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UserError(f"--shard {text}: not a shard; write I/N with 1 <= I <= N, such as 3/8")
    return Shard(int(match[1]), int(match[2]))
