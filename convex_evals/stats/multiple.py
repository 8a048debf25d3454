"""Several questions at once: chance has several opportunities."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def holm(ps: Sequence[float | None], weights: Sequence[Fraction] | None = None) -> list[float | None]:
    """The p-values, corrected for their number, in their order. None stands for what was not tested, and stays.

    The chance that any of the corrected ones is below a bound without reason is at most that bound, however the tests
    depend on each other. `weights`, which no outcome may decide, say how the chance of an error is shared out; without
    them, evenly. Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979), 65-70, its section 4 for weights. scipy has corrections of the false discovery rate alone.
    """
    shares = weights or [Fraction(1)] * len(ps)
    tested = sorted((p / share, at) for at, (p, share) in enumerate(zip(ps, shares, strict=True)) if p is not None)
    corrected: list[float | None] = [None] * len(ps)
    left = sum((shares[at] for _, at in tested), Fraction(0))
    largest = 0.0
    for p, at in tested:
        largest = max(largest, min(1.0, p * left))
        corrected[at] = largest
        left -= shares[at]
    return corrected
