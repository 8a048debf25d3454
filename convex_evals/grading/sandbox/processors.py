"""Which processors the processes of a worker run on.

Backend, tester and checker of one worker wait for each other all the time. On the same processor one goes on where
another stops; else each message wakes an idle processor, which costs more than what the message asks for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_PROCESSORS: ContextVar[tuple[int, ...]] = ContextVar("processors", default=())


def shares(workers: int) -> list[tuple[int, ...]]:
    """What each of several workers gets of the processors that we may use; of a single worker, and where the system
    cannot do it, nothing is said."""
    if workers == 1 or not hasattr(os, "sched_getaffinity"):
        return [()] * workers
    ours = sorted(os.sched_getaffinity(0))
    size = max(1, len(ours) // workers)
    return [tuple(ours[(at * size + n) % len(ours)] for n in range(size)) for at in range(workers)]


@contextmanager
def running_on(processors: tuple[int, ...]) -> Iterator[None]:
    """Whatever is launched from here on runs on these processors; none: wherever it likes."""
    token = _PROCESSORS.set(processors)
    try:
        yield
    finally:
        _PROCESSORS.reset(token)


def processors() -> tuple[int, ...]:
    """Where a process that is launched now is to run."""
    return _PROCESSORS.get()
