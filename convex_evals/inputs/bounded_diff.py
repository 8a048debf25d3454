"""Comparing sequences in bounded time, whatever they contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

# About a tenth of a microsecond each.
_MOST_STEPS = 50_000_000
_LONGEST = 20_000  # elements of both together


def matcher(old: Sequence[str], new: Sequence[str]) -> SequenceMatcher[str]:
    """Python's own matcher, which takes cubic time where elements are repeated often.

    Elements that would take too long are not looked up: they match only beside others that do, and at the beginning.
    Of very long sequences these are all. What people write is compared in full.
    """
    if len(old) + len(new) > _LONGEST:
        return SequenceMatcher(lambda _: True, old, new, autojunk=False)
    left = _MOST_STEPS // max(1, min(len(old), len(new)))
    if len(old) * len(new) <= left:  # however many of them are equal
        return SequenceMatcher(None, old, new, autojunk=False)
    before, after = Counter(old), Counter(new)
    ignored: set[str] = set()
    # Each pair of equal elements is looked at once for each match that is found. The rarest say most.
    for element, pairs in sorted(((e, n * before[e]) for e, n in after.items()), key=lambda each: each[1]):
        if pairs > 1:
            left -= pairs
            if left < 0:
                ignored.add(element)
    return SequenceMatcher(ignored.__contains__ if ignored else None, old, new, autojunk=False)
