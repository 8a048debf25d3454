"""Looking for processes that somebody left behind."""

from __future__ import annotations

import os
from pathlib import Path


def processes_with(text: str) -> list[int]:
    """Living processes with `text` in their environment or command line, without this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            zombie = (entry / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if text.encode() in told and not zombie:
            found.append(int(entry.name))
    return found
