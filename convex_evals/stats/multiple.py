"""Several questions at once: chance has several opportunities."""

from __future__ import annotations

from collections.abc import Sequence


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """The p-values, corrected for their number, in their order. None stands for what was not tested, and stays.

    The chance that any of the corrected ones is below a bound without reason is at most that bound, however the tests
    depend on each other. Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6 (1979), 65-70. scipy has corrections of the false discovery rate alone.
    """
    tested = sorted((p, at) for at, p in enumerate(ps) if p is not None)
    corrected: list[float | None] = [None] * len(ps)
    largest = 0.0
    for rank, (p, at) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - rank)))
        corrected[at] = largest
    return corrected
