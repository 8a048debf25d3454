"""Figures as people read them. Pure."""

from __future__ import annotations

import math

from convex_evals.records import Counts
from convex_evals.stats import Rate

Ends = tuple[float, float] | None


def percent(counts: Counts | Rate) -> str:
    """The pass rate, rounded; `-` where nothing was scored."""
    rate = counts.pass_rate
    return "-" if rate is None else f"{rate:.0%}"


def interval(rate: Rate) -> str:
    """The 95 % interval over evals of this kind, in brackets the one over replies to these evals where it is another.

    Both are rounded outwards, so that they promise no more than they hold; `-` where nothing was scored.
    """
    return two_intervals(rate.interval, rate.interval_these_evals)


def two_intervals(of_kind: Ends, these_evals: Ends) -> str:
    """As `interval` does, of both as they are."""
    kind, these = ends(of_kind), ends(these_evals)
    return kind if kind == these else f"{kind} ({these})"


def ends(found: Ends) -> str:
    """An interval of shares of 1 in percent, rounded outwards; `-` of None."""
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
