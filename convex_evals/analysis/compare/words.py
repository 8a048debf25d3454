"""A comparison's figures in words, the same wherever they are shown."""

from __future__ import annotations

import math

from convex_evals.stats import RELEVANT, Conclusion, Paired
from convex_evals.stats.paired import FEWEST
from convex_evals.text import counted


def points(difference: float | None) -> str:
    """A difference of shares in points, with its sign."""
    if difference is None:
        return "-"
    rounded = round(difference * 100, 1)
    return f"{rounded:+.1f}" if rounded else "0.0"


def rate(share: float | None) -> str:
    return "-" if share is None else f"{share * 100:.1f}%"


def span(interval: tuple[float, float] | None) -> str:
    return "-" if interval is None else f"{points(interval[0])} to {points(interval[1])}"


def p_value(p: float | None) -> str:
    """Rounded up, so that what is printed as 0.050 is no more than that."""
    if p is None:
        return "-"
    return "<0.001" if p < 0.001 else f"{math.ceil(round(p * 1000, 6)) / 1000:.3f}"


def verdict_line(found: Paired) -> str:
    """The whole answer on one line."""
    if not found.evals:
        return f"{found.verdict.words}: no eval was scored on both sides"
    evals = f"over {counted(found.evals, 'eval')}"
    given = [f"95 % interval {span(found.interval)}"] if found.interval else []
    if found.p is not None:
        given.append(f"p {p_value(found.p)}" if found.p >= 0.001 else "p < 0.001")
    sure = f" ({', '.join(given)})" if given else ""
    line = f"{found.verdict.words}: {points(found.difference)} points{sure} {evals}"
    if found.verdict is Conclusion.TOO_FEW:
        differ = "none differs" if not found.differing else f"only {found.differing} of them differ"
        return f"{line}: {differ}{'s' if found.differing == 1 else ''}, it takes six"
    return line


def advice(found: Paired) -> str | None:
    """What would have been found, and what would find more; None where the verdict needs no such thing."""
    if found.verdict.shown:
        return None
    if 0 < found.evals < FEWEST:
        return f"Cannot be decided: six evals have to differ, and there are {found.evals}. More evals would help."
    if found.detectable is None:
        return None
    line = f"A true difference of {found.detectable * 100:.1f} points would have been found four times out of five."
    if found.verdict is Conclusion.NO_DIFFERENCE or found.more_trials == 0:
        return line
    wanted = f"{RELEVANT * 100:.0f} points"
    if found.more_trials is None:
        return f"{line} More trials would not get it down to {wanted}; more evals would."
    return f"{line} About {counted(found.more_trials, 'more trial')} per eval would detect {wanted}."
