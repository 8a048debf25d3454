"""How much of what can be repeated at will a tier repeats."""

from __future__ import annotations

import os
import random
import zlib

SEED_VARIABLE = "TEST_SEED"
_FAST_SHARE = 5
_FEWEST = 10
_FULL_SHARE = 15
is_full = False  # both are set before test modules are loaded
is_soak = False


def seed() -> int:
    """What decides which part of the possible cases --full tries; `scripts/check.py` takes the commit's id."""
    return int(os.environ.get(SEED_VARIABLE, "0"))


def examples(most: int) -> int:
    """How many examples Hypothesis makes up: `most` of them with --full, a fifth in the fast tier."""
    return most if is_full else max(most // _FAST_SHARE, _FEWEST)


def is_sampled(case: str, share: int) -> bool:
    """Whether to try a case: all of them with --soak, otherwise one of `share`, others for each seed."""
    return is_soak or zlib.crc32(f"{seed()} {case}".encode()) % share == 0


def seeds(most: int) -> list[int]:
    """The seeds of what chance decides: `most` of them with --soak, otherwise 0 and a sample of the others."""
    others = range(1, most)
    if is_soak:
        return [0, *others]
    return [0, *sorted(random.Random(seed()).sample(others, len(others) // _FULL_SHARE))]
