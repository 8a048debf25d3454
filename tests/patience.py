"""Time limits as multiples of what this machine needs for a known piece of work, not as constants.

A limit says how long something may take on an idle machine of the kind that the limits were written on. A slower or
busier machine gets more. `scripts/check.py` measures once and tells all test processes; elsewhere the first one
measures.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
import time

VARIABLE = "TEST_PATIENCE"
# What `_work` takes on an idle machine of the kind that limits are written for.
_REFERENCE_SECONDS = 0.2
_MOST = 10.0
_HASHES = 300_000
_PROCESSES = 10


def seconds(idle: float) -> float:
    """How long to wait here for what has to be there within `idle` seconds on an idle machine."""
    return idle * factor()


@functools.cache
def factor() -> float:
    """How many times as long as on an idle machine of reference: 1 to 10. Inherited by the processes of tests."""
    if VARIABLE not in os.environ:
        os.environ[VARIABLE] = f"{measure():.2f}"
    return float(os.environ[VARIABLE])


def measure() -> float:
    """Time the known piece of work once, and compare it with the reference; takes about a quarter of a second."""
    return min(max(_work() / _REFERENCE_SECONDS, 1.0), _MOST)


def _work() -> float:
    start = time.monotonic()
    hashlib.pbkdf2_hmac("sha256", b"known", b"work", _HASHES)
    for _ in range(_PROCESSES):
        subprocess.run([sys.executable, "-S", "-E", "-c", "pass"], check=True)
    return time.monotonic() - start
