"""Which packages the graders of a suite need that has no node_modules of its own."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.packages import PackageError, parse_dependencies
from convex_evals.inputs.suite_files import read_inside
from convex_evals.suite.suite import GRADER_NAME

MANIFEST = "package.json"
# The runner is always ours: two copies of vitest in one process do not work.
_OURS = {"vitest"}
_RELATIVE = re.compile(r"""["'](\.{1,2}/[^"'\n]+)["']""")
_SOURCES = (".ts", ".tsx", ".mts", ".js", ".mjs")


def grader_packages(suite: Path, warn: Callable[[str], None]) -> dict[str, str]:
    """Names and ranges from the suite's package.json, as far as graders mention them.

    A suite's manifest also names what its own tools need; only what graders can import is installed. Raises
    `UserError` where the manifest cannot be read.
    """
    manifest = suite / MANIFEST
    if (suite / "node_modules").is_dir() or not os.path.lexists(manifest):
        return {}
    texts = _grader_texts(suite.resolve())
    wanted: dict[str, str] = {}
    for name, spec in _named(manifest).items():
        if name in _OURS or not any(_mentions(text, name) for text in texts):
            continue
        try:
            wanted |= parse_dependencies(json.dumps({"dependencies": {name: spec}}))["dependencies"]
        except PackageError:
            warn(f"{manifest}: '{name}' does not come from the registry; graders that import it will fail")
    return wanted


def _named(manifest: Path) -> dict[str, object]:
    try:
        data = json.loads(read_inside(manifest.parent, manifest))
    except json.JSONDecodeError as error:
        raise UserError(f"{manifest}:{error.lineno}: not valid JSON: {error.msg}; fix it") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{manifest}: not valid JSON: {error}; fix it") from None
    sections = [data.get(key) for key in ("devDependencies", "dependencies")] if isinstance(data, dict) else []
    return {name: spec for section in sections if isinstance(section, dict) for name, spec in section.items()}


def _mentions(text: str, name: str) -> bool:
    quoted = any(f"{quote}{name}{end}" in text for quote in "\"'`" for end in (quote, "/"))
    return quoted or re.search(rf"@vitest-environment\s+{re.escape(name)}\b", text) is not None


def _grader_texts(suite: Path) -> list[str]:
    """Graders and all that they import relatively, their answers apart."""
    waiting = sorted((suite / "evals").glob(f"*/*/{GRADER_NAME}"))
    seen: dict[Path, str] = {}
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        try:
            seen[path] = read_inside(suite, path)
        except UserError:
            seen[path] = ""  # grading with it says what is wrong with it
        for target in _RELATIVE.findall(seen[path]):
            found = _source(path.parent / target)
            if found and "answer" not in found.parts and found.is_relative_to(suite):
                waiting.append(found)
    return list(seen.values())


def _source(path: Path) -> Path | None:
    """The file that a relative import means."""
    stem = path.with_suffix("") if path.suffix in _SOURCES else path
    candidates = [path, *(stem.with_name(stem.name + s) for s in _SOURCES), *(path / f"index{s}" for s in _SOURCES)]
    return next((c.resolve() for c in candidates if c.is_file()), None)
