"""The files that all pages load."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).with_name("assets")
CONTENT_TYPES = {
    "pages.css": "text/css; charset=utf-8",
    "pages.js": "text/javascript; charset=utf-8",
    "charts.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "LICENSES.txt": "text/plain; charset=utf-8",
}


@cache
def read_asset(name: str) -> bytes | None:
    """None where there is no such file."""
    return (FOLDER / name).read_bytes() if name in CONTENT_TYPES else None
