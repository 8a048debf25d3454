"""Print what this machine is busy with: a check that follows is not blamed for what was there before it.

    python scripts/machine.py             load, cores, free memory, the busiest processes
    python scripts/machine.py --calm 120  the same, after other processes are quiet, or after 120 s

Needs nothing but Python. Where there is no /proc, it prints load and cores alone, and does not wait.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

PROC = Path("/proc")
_SAMPLE_SECONDS = 1.0
_PAUSE_SECONDS = 4.0
_SHOWN = 5
# Processes that use less than this share of one core are background noise.
_NOTICED = 0.02
# A machine is calm while others use less than this share of all its cores.
_CALM = 0.15
_NAME_LENGTH = 90


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calm", type=float, default=0, metavar="S", help="wait up to S seconds for a calm machine")
    limit = parser.parse_args().calm
    start = time.monotonic()
    busy = busy_processes()
    while not is_calm(busy) and time.monotonic() - start < limit:
        print(f"waiting for other processes: {_shares(busy[:1])}", flush=True)
        time.sleep(_PAUSE_SECONDS)
        busy = busy_processes()
    print(describe(busy), flush=True)


def describe(busy: list[tuple[float, str]]) -> str:
    """Return one line: load, cores, free memory, and the busiest processes."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    parts = [f"load {load}", f"{os.cpu_count()} cores", *free_memory()]
    return f"machine: {'; '.join(parts)}; busiest: {_shares(busy[:_SHOWN]) or 'none'}"


def free_memory() -> list[str]:
    """Return the available memory in words, or nothing where it cannot be told."""
    try:
        lines = (PROC / "meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    kibibytes = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
    return [f"{kibibytes['MemAvailable'] / 2**20:.1f} of {kibibytes['MemTotal'] / 2**20:.1f} GiB free"]


def is_calm(busy: list[tuple[float, str]]) -> bool:
    """Whether other processes leave the cores alone."""
    return sum(share for share, _ in busy) < _CALM * (os.cpu_count() or 1)


def busy_processes() -> list[tuple[float, str]]:
    """Return the share of one core and the command of each busy process, the busiest first, over one second.

    This process and those it descends from are left out.
    """
    own = _ancestors(os.getpid())
    before, start = _ticks(), time.monotonic()
    time.sleep(_SAMPLE_SECONDS)
    after, elapsed = _ticks(), time.monotonic() - start
    second = os.sysconf("SC_CLK_TCK") * elapsed
    shares = [(count - before[pid], pid) for pid, count in after.items() if pid in before and pid not in own]
    return [(used / second, _command(pid)) for used, pid in sorted(shares, reverse=True) if used / second >= _NOTICED]


def _ticks() -> dict[int, int]:
    """The processor time that each process has used so far, in clock ticks."""
    found = {}
    for entry in PROC.glob("[0-9]*"):
        fields = _stat(int(entry.name))
        if fields:
            found[int(entry.name)] = int(fields[11]) + int(fields[12])
    return found


def _ancestors(pid: int) -> set[int]:
    found: set[int] = set()
    while pid and pid not in found:
        found.add(pid)
        fields = _stat(pid)
        pid = int(fields[1]) if fields else 0
    return found


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the command's name, which may contain anything."""
    try:
        return (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _command(pid: int) -> str:
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes() or (PROC / str(pid) / "comm").read_bytes()
    except OSError:
        return "ended"
    return " ".join(words.replace(b"\0", b" ").decode(errors="replace").split())[:_NAME_LENGTH]


def _shares(busy: list[tuple[float, str]]) -> str:
    return ", ".join(f"{share:.0%} {command}" for share, command in busy)


if __name__ == "__main__":
    main()
