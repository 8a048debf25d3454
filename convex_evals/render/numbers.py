"""Figures as people read them. Pure."""

from __future__ import annotations

import math

from convex_evals.records import Counts
from convex_evals.stats import wilson


def percent(counts: Counts) -> str:
    """The pass rate, rounded; `-` where nothing was scored."""
    rate = counts.pass_rate
    return "-" if rate is None else f"{rate:.0%}"


def interval(counts: Counts) -> str:
    """The 95 % interval of the pass rate, rounded outwards so that it promises no more than it holds."""
    found = wilson(counts.passed, counts.scored)
    return "-" if found is None else f"{math.floor(found[0] * 100)}-{math.ceil(found[1] * 100)}%"


def dollars(amount: float) -> str:
    """Cents, or a hundredth of them below one dollar."""
    return f"${amount:,.2f}" if amount >= 1 or amount == 0 else f"${amount:.4f}"


def rough_duration(seconds: float) -> str:
    """Of what is only guessed, in one unit: `40 s`, `3 min`, `2 h 10 min`."""
    if seconds < 55:
        return f"{max(10, round(seconds, -1)):.0f} s"
    minutes = max(1, round(seconds / 60))
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60 // 10 * 10:02} min"


def duration(milliseconds: float) -> str:
    """In the two units that tell most: `8.1 s`, `1 min 12 s`, `2 h 05 min`."""
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min {rest:02} s"
