"""Files below a folder that agents keep, found without following links."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

# Where programs keep credentials and settings.
_PRIVATE = (
    *("*auth*", "*credential*", "*creds*", "*secret*", "*account*", "*settings*", "*config*", ".*"),
    *("key*", "*[-_.]key*", "*apikey*", "token*", "*[-_.]token*"),
)


def files_below(place: Path, *patterns: str) -> Iterator[Path]:
    """`place` itself if it is a file; else the files below it whose names match, in order, links left out."""
    if place.is_file():
        yield place
        return
    for folder, names, files in os.walk(place):
        names.sort()
        for name in sorted(files):
            path = Path(folder, name)
            if any(fnmatch(name, pattern) for pattern in patterns) and not path.is_symlink():
                yield path


def project_files(place: Path, is_wanted: Callable[[str], bool]) -> Iterator[Path]:
    """Yield files of such names below a person's folder, in order; hidden folders, packages and links are left out."""
    for folder, names, files in os.walk(place):
        names[:] = sorted(name for name in names if not name.startswith(".") and name != "node_modules")
        for name in sorted(filter(is_wanted, files)):
            path = Path(folder, name)
            if not path.is_symlink():
                yield path


def is_private(file: Path) -> bool:
    """Whether the name is one of credentials or settings: who reads any JSON must not open it."""
    return any(fnmatch(file.name.lower(), pattern) for pattern in _PRIVATE)
