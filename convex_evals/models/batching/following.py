"""How a command follows batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _unheard(line: str) -> None:
    pass


@dataclass
class Following:
    """For how long, and who hears of it."""

    wait_s: float | None = None  # seconds from the first look at a batch; None: to its end
    note: Callable[[str], None] = _unheard  # what is worth a line
    progress: Callable[[str], None] = _unheard  # how far a batch is
