"""Which packages the graders of a suite need that has no node_modules of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grade.packages import PackageError, parse_dependencies

MANIFEST = "package.json"
# The runner is always ours: two copies of vitest in one process do not work.
_OURS = {"vitest"}
_OUTSIDE = re.compile(r"""["'](?:\.\./){3}([\w.-]+)""")
_SOURCES = {".ts", ".tsx", ".mts", ".js", ".mjs"}


def grader_packages(suite: Path, warn: Callable[[str], None]) -> dict[str, str]:
    """Names and ranges from the suite's package.json, as far as graders mention them.

    A suite's manifest also names what its own tools need; only what graders can import is installed. Raises
    `UserError` where the manifest cannot be read.
    """
    manifest = suite / MANIFEST
    if (suite / "node_modules").is_dir() or not manifest.is_file():
        return {}
    texts = list(_grader_texts(suite))
    wanted: dict[str, str] = {}
    for name, spec in _named(manifest).items():
        if name in _OURS or not any(_mentions(text, name) for text in texts):
            continue
        try:
            wanted |= parse_dependencies(json.dumps({"dependencies": {name: spec}}))
        except PackageError:
            warn(f"{manifest}: '{name}' does not come from the registry; graders that import it will fail")
    return wanted


def _named(manifest: Path) -> dict[str, object]:
    try:
        data = json.loads(manifest.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {manifest}: {error}") from None
    except json.JSONDecodeError as error:
        raise UserError(f"{manifest}:{error.lineno}: not valid JSON: {error.msg}; mend it") from None
    sections = [data.get(key) for key in ("devDependencies", "dependencies")] if isinstance(data, dict) else []
    return {name: spec for section in sections if isinstance(section, dict) for name, spec in section.items()}


def _mentions(text: str, name: str) -> bool:
    return any(f"{quote}{name}{end}" in text for quote in "\"'`" for end in (quote, "/"))


def _grader_texts(suite: Path) -> Iterator[str]:
    """Sources beside and below graders, and in the folders at the root that they import from."""
    shared: set[str] = set()
    for folder in (suite / "evals").glob("*/*"):
        for path in folder.glob("*"):
            if path.suffix in _SOURCES and path.is_file():
                text = path.read_text(encoding="utf-8", errors="replace")
                shared |= set(_OUTSIDE.findall(text))
                yield text
    for name in sorted(shared - {"evals", "node_modules"}):
        for path in [suite / name, *suite.glob(f"{name}.*"), *(suite / name).rglob("*")]:
            if path.suffix in _SOURCES and path.is_file() and "node_modules" not in path.parts:
                yield path.read_text(encoding="utf-8", errors="replace")
