"""Which packages the graders of a suite need that has no node_modules of its own, and types of projects' packages."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.checker import Checker
from convex_evals.grading.packages import PackageError, parse_dependencies
from convex_evals.inputs.suite_files import read_inside
from convex_evals.suite.suite import GRADER_NAME

MANIFEST = "package.json"
# The runner is always ours: two copies of vitest in one process do not work.
_OURS = {"vitest"}
# Types of packages that projects name without them; those of Node.js are global, and found nowhere but in a project.
_TYPES = "@types/"
_GLOBAL_TYPES = {"@types/node"}
_READ_SECONDS = 60


def manifest_packages(suite: Path) -> dict[str, object]:
    """Names and ranges from the suite's package.json; none where it has a node_modules. Raises `UserError`."""
    manifest = suite / MANIFEST
    if (suite / "node_modules").is_dir() or not os.path.lexists(manifest):
        return {}
    try:
        data = json.loads(read_inside(suite, manifest))
    except json.JSONDecodeError as error:
        raise UserError(f"{manifest}:{error.lineno}: not valid JSON: {error.msg}; fix it") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{manifest}: not valid JSON: {error}; fix it") from None
    sections = [data.get(key) for key in ("devDependencies", "dependencies")] if isinstance(data, dict) else []
    return {name: spec for section in sections if isinstance(section, dict) for name, spec in section.items()}


async def imported_packages(suite: Path, checker: Checker) -> list[str]:
    """Names of the packages that graders of `suite` import, and what they import relatively. Raises `ProcessFault`."""
    files = sorted(map(str, (suite / "evals").glob(f"*/*/{GRADER_NAME}")))
    found: list[str] = await checker.request("grader_packages", suite=suite, files=files, timeout=_READ_SECONDS)
    return found


def grader_packages(
    suite: Path, named: Mapping[str, object], imported: Collection[str], warn: Callable[[str], None]
) -> dict[str, str]:
    """What is `imported`, and types, with the ranges that the manifest gives them.

    A suite's manifest also names what its own tools need; only what graders import is installed, and what the type
    checks of projects may need.
    """
    used = {*imported, *(name for name in named if name.startswith(_TYPES) and name not in _GLOBAL_TYPES)}
    wanted: dict[str, str] = {}
    for name, spec in named.items():
        if name in _OURS or name not in used:
            continue
        try:
            wanted |= parse_dependencies(json.dumps({"dependencies": {name: spec}}))["dependencies"]
        except PackageError:
            warn(f"{suite / MANIFEST}: '{name}' does not come from the registry; graders that import it will fail")
    return wanted
