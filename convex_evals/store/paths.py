"""Where things stand: model slugs to folders, run folders to their files."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from convex_evals.inputs.reserved_names import is_reserved

_PLAIN = re.compile(r"[a-z0-9._-]")
_LONGEST = 60
# How folders begin that hold the runs of one validation: `MODEL/DATE/validation-ID/RUN`. No day is named so.
VALIDATION = "validation-"


def top_of(folder: Path) -> Path | None:
    """The folder of all runs, of one run's folder; None where it cannot stand in one."""
    above = 4 if folder.parent.name.startswith(VALIDATION) else 3
    return folder.parents[above] if len(folder.parents) > above else None


@lru_cache(maxsize=1_000)
def slug_folders(slug: str) -> tuple[str, str]:
    """Two folder names for a model's slug: provider and the rest.

    Injective, lower case and legal on every file system: all but `a-z 0-9 . _ -` is percent-encoded,
    names that Windows reserves and dots at either end are too, and a long name ends in a hash of the whole.
    """
    provider, _, name = slug.partition("/")
    return _folder(provider), _folder(name)


def _folder(name: str) -> str:
    encoded = "".join(c if _PLAIN.match(c) else _percent(c) for c in name)
    if encoded.startswith("."):
        encoded = _percent(".") + encoded[1:]
    if encoded.endswith("."):
        encoded = encoded[:-1] + _percent(".")
    if is_reserved(encoded):
        encoded = _percent(encoded[0]) + encoded[1:]
    if len(encoded) > _LONGEST:
        digest = hashlib.sha256(name.encode()).hexdigest()[:16]
        encoded = f"{encoded[: _LONGEST - 17]}~{digest}"
    return encoded or "%"


def _percent(character: str) -> str:
    return "".join(f"%{byte:02x}" for byte in character.encode("utf-8", "surrogatepass"))
