"""How much of what can be repeated at will a tier repeats."""

from __future__ import annotations

_FAST_SHARE = 5
_FEWEST = 10
is_full = False  # set before test modules are loaded


def examples(most: int) -> int:
    """How many examples Hypothesis makes up: `most` of them with --full, a fifth in the fast tier."""
    return most if is_full else max(most // _FAST_SHARE, _FEWEST)
