"""What a matrix expands to."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

Combination = dict[str, Any]


def combinations(matrix: Mapping[str, Any]) -> list[Combination]:
    """The combinations in order: `exclude` takes some away, `include` adds keys to them, or whole combinations."""
    axes = {name: values for name, values in matrix.items() if name not in ("include", "exclude")}
    found = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())] if axes else []
    found = [c for c in found if not any(_agrees(c, left_out) for left_out in matrix.get("exclude") or ())]
    originals = [dict(c) for c in found]
    for extra in matrix.get("include") or ():
        # A value of an axis is never overwritten; one that an earlier `include` added may be.
        hits = [n for n, c in enumerate(originals) if all(c[k] == v for k, v in extra.items() if k in axes)]
        for n in hits:
            found[n].update(extra)
        if not hits:
            found.append(dict(extra))
    return found


def _agrees(combination: Combination, wanted: Mapping[str, Any]) -> bool:
    return all(combination.get(key) == value for key, value in wanted.items())
