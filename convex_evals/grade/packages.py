"""Dependencies of projects: each resolved set is installed once into a read-only store and linked into projects."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypedDict

from convex_evals.errors import InfrastructureError
from convex_evals.grade.node import Node
from convex_evals.grade.npm import Progress, npm
from convex_evals.grade.once import make_once
from convex_evals.suite import sha256_parts

_PACKAGE_NAME = re.compile(r"^(@[a-z0-9~_.-]+/)?[a-z0-9~_-][a-z0-9~._-]*$", re.IGNORECASE)
# A version range or a dist-tag: no protocol, no path, no `user/repository`.
_REGISTRY_SPEC = re.compile(r"^[\w\s.^~<>=|*+-]*$")
_ALIAS = re.compile(r"^npm:(@[\w.~-]+/)?[\w.~-]+(@[\w\s.^~<>=|*+-]*)?$")
_LARGEST = 200


class Dependencies(TypedDict):
    """Names and ranges, sorted by name."""

    dependencies: dict[str, str]
    optionalDependencies: dict[str, str]


class PackageError(Exception):
    """The project asks for packages that cannot be installed: its own fault."""


@dataclass(frozen=True)
class PackageStore:
    """Installed sets, keyed by what was asked for and the day up to which packages count."""

    root: Path
    node: Node
    before: date

    async def install(self, package_json: str, *, timeout: float = 180, progress: Progress | None = None) -> Path:
        """The `node_modules` with what `package_json` (the file's text) asks for.

        Raises `PackageError` for the project's fault and `InfrastructureError` for the registry's or ours.
        """
        wanted = parse_dependencies(package_json)
        key = sha256_parts([self.before.isoformat(), json.dumps(wanted, sort_keys=True)])[:16]
        target = self.root / key
        try:
            async with asyncio.timeout(timeout):
                await make_once(target, lambda folder: self._fill(folder, wanted, timeout), progress)
        except TimeoutError:
            raise InfrastructureError(f"npm install did not finish within {timeout:.0f} s") from None
        return target / "node_modules"

    async def _fill(self, folder: Path, wanted: Dependencies, timeout: float) -> None:
        (folder / "node_modules").mkdir()
        if not any(wanted.values()):
            return
        manifest: dict[str, object] = {"name": "project", "private": True, **wanted}
        (folder / "package.json").write_text(json.dumps(manifest, indent=2))
        arguments = ["install", f"--before={self.before.isoformat()}"]
        failure = await npm(self.node, arguments, cwd=folder, timeout=timeout)
        if failure and failure.code == "ERESOLVE":
            # Peer ranges that disagree are a warning to other package managers, and no mistake in the code.
            failure = await npm(self.node, [*arguments, "--force"], cwd=folder, timeout=timeout)
        if failure and failure.is_project_fault:
            raise PackageError(failure.summary)
        if failure:
            raise InfrastructureError(f"npm install failed: {failure.advice}")


def parse_dependencies(package_json: str) -> Dependencies:
    """Packages and ranges of a package.json: what must be there, and what may be left out.

    Raises `PackageError` where the text is no package.json, or asks for something that is not in the registry.
    """
    try:
        data: Any = json.loads(package_json)
    except (ValueError, RecursionError) as error:
        raise PackageError(f"package.json: not valid JSON: {error}") from None
    if not isinstance(data, dict):
        raise PackageError("package.json: not a JSON object")
    wanted: dict[str, str] = {}
    for section in ("peerDependencies", "devDependencies", "dependencies"):
        wanted |= _section(data, section)
    optional = {name: spec for name, spec in _section(data, "optionalDependencies").items() if name not in wanted}
    if len(wanted) + len(optional) > _LARGEST:
        raise PackageError(f"package.json: {len(wanted) + len(optional)} dependencies (at most {_LARGEST})")
    return {"dependencies": dict(sorted(wanted.items())), "optionalDependencies": dict(sorted(optional.items()))}


def _section(data: dict[str, Any], section: str) -> dict[str, str]:
    entries = data.get(section) or {}
    if not isinstance(entries, dict):
        raise PackageError(f"package.json: '{section}' is not an object")
    return {name: _check(name, spec) for name, spec in entries.items()}


def _check(name: str, spec: object) -> str:
    if not _PACKAGE_NAME.match(name) or name.startswith((".", "_")) or name == "node_modules":
        raise PackageError(f"package.json: {name[:80]!r} is not a package name")
    if not isinstance(spec, str):
        raise PackageError(f"package.json: the version of '{name}' is not text")
    if not (_REGISTRY_SPEC.match(spec) or _ALIAS.match(spec)):
        raise PackageError(
            f"package.json: '{name}': '{spec[:80]}' does not name a version in the registry "
            "(file:, link:, git and URL dependencies are not installed)"
        )
    return spec


def link_packages(node_modules: Path, project: Path) -> None:
    """Link every package of a store folder into `project`/node_modules: a folder that tools may write to."""
    target = project / "node_modules"
    target.mkdir()
    for entry in sorted(node_modules.iterdir()):
        if entry.name.startswith("@") and entry.is_dir():
            (target / entry.name).mkdir()
            for package in sorted(entry.iterdir()):
                (target / entry.name / package.name).symlink_to(package)
        elif entry.name == ".bin":
            _link_binaries(entry, target / ".bin")
        elif not entry.name.startswith("."):
            (target / entry.name).symlink_to(entry)


def _link_binaries(source: Path, target: Path) -> None:
    target.mkdir()
    for entry in sorted(source.iterdir()):
        (target / entry.name).symlink_to(entry.resolve())
