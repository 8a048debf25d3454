"""Names that mean a device on Windows, with any ending: no file may have one."""

from __future__ import annotations

import re

_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE | re.DOTALL)


def is_reserved(name: str) -> bool:
    """Whether a file or a folder cannot have this name everywhere."""
    return _DEVICES.fullmatch(name) is not None
