"""Commands that serve until they are told to stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

# SIGHUP is sent by a terminal that closes. Windows has none.
_STOPPING = ("SIGTERM", "SIGHUP")


@contextmanager
def until_stopped() -> Iterator[None]:
    """Run a block until Ctrl-C, SIGTERM or SIGHUP, each of which ends it without an error.

    Scripts start background jobs with Ctrl-C ignored: a server is stopped by it all the same, or it would outlive its
    script. `nohup` says that a closed terminal is no reason to stop, and is heeded.
    """
    before: dict[signal.Signals, Any] = {}
    ctrl_c = signal.getsignal(signal.SIGINT)
    if ctrl_c is signal.SIG_IGN:
        before[signal.SIGINT] = ctrl_c
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in _STOPPING:
        number: signal.Signals | None = getattr(signal, name, None)
        if number is None or (name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN):
            continue
        # asyncio and uvicorn each answer Ctrl-C in their own way.
        before[number] = signal.signal(number, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        with suppress(KeyboardInterrupt):
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
