"""What the whole machine uses while something is measured, which should be all that it does."""

from __future__ import annotations

import os
import threading
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")
_SAMPLE_SECONDS = 0.1


def cpu_seconds() -> float:
    """User and system time so far. Counting processes would miss those that sandboxes kill."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split(None, 9)[1:9]
    user, nice, system, _idle, _waiting, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / _TICK


def memory_mib() -> float:
    """In use now. Counting processes would count what they share several times, or take long."""
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines())
    return (int(lines["MemTotal"].split()[0]) - int(lines["MemAvailable"].split()[0])) / 1024


class PeakMemory:
    """The most memory used at once, beyond what was used before, by looking ten times a second."""

    def __init__(self) -> None:
        self.mib = 0.0
        self._before = memory_mib()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def _watch(self) -> None:
        while not self._over.wait(_SAMPLE_SECONDS):
            self.mib = max(self.mib, memory_mib() - self._before)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
