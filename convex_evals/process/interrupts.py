"""Moments in which Ctrl-C has to wait."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold SIGINT back until the block ends, as while a pool of processes starts.

    A `ProcessPoolExecutor` that is interrupted between the start of one process and of the next never tells the first
    one to end, and Python waits for it at its exit.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
