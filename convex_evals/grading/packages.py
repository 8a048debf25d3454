"""Dependencies of projects: each resolved set is installed once into a read-only store and linked into projects."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypedDict

from convex_evals.clock import step_timeout
from convex_evals.errors import InstallFault
from convex_evals.grading.node import Node
from convex_evals.grading.npm import NpmFailure, Progress, not_in_a_registry, npm, remove_tree
from convex_evals.grading.once import make_once
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.records.hashes import sha256_parts

_NAME = r"(@[a-z0-9~_-][a-z0-9~._-]*/)?[a-z0-9~_-][a-z0-9~._-]*"
# A version range or a dist-tag: no protocol, no path, no `user/repository`, nothing that is hidden or above.
_SPEC = r"(?!\s*\.)[\w\s.^~<>=|*+-]*"
_PACKAGE_NAME = re.compile(_NAME, re.IGNORECASE | re.ASCII)
_REGISTRY_SPEC = re.compile(_SPEC, re.ASCII)
_ALIAS = re.compile(f"npm:({_NAME})(@{_SPEC})?", re.IGNORECASE | re.ASCII)
_LARGEST = 200
_PACKAGE_JSON = Limits(2 * 1024 * 1024)
_CANARY, _ABANDONED_SECONDS = "canary.tmp-", 3600.0
_LONGEST_NAME, _LONGEST_SPEC = 214, 256  # what npm and its semver take
# What every object of JavaScript answers to: npm keeps packages in such objects, by their names.
_OF_EVERY_OBJECT = frozenset(
    {
        *("constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString"),
        *("valueOf", "__proto__", "prototype"),
    }
)


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

        Raises `PackageError` for the project's fault, and `InstallFault` for anything else, a missing registry and a
        full disk included: the project may have caused it.
        """
        wanted = parse_dependencies(package_json)
        key = sha256_parts([self.before.isoformat(), json.dumps(wanted, sort_keys=True)])[:16]
        target = self.root / key
        try:
            async with step_timeout(timeout):
                await make_once(target, lambda folder: self._fill(folder, wanted, timeout), progress)
        except TimeoutError:
            raise InstallFault(f"npm install did not finish within {timeout:.0f} s") from None
        return target / "node_modules"

    async def can_install(self, package_json: str, *, timeout: float) -> bool:
        """Whether npm gets these packages from the registry and unpacks them, now, and not from what it has kept."""
        for leftover in self.root.glob(f"{_CANARY}*"):
            with contextlib.suppress(OSError):
                if leftover.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                    remove_tree(leftover)
        try:
            folder = Path(tempfile.mkdtemp(prefix=_CANARY, dir=self.root))
        except OSError:
            return False
        try:
            (folder / "set").mkdir()
            fetched = [f"--cache={folder / 'fetched'}", "--prefer-online"]
            async with step_timeout(timeout):
                failure = await self._run_npm(folder / "set", parse_dependencies(package_json), timeout, fetched)
            return failure is None and (folder / "set" / "node_modules").is_dir()
        except (TimeoutError, PackageError, OSError):
            return False
        finally:
            await asyncio.to_thread(remove_tree, folder)

    async def _fill(self, folder: Path, wanted: Dependencies, timeout: float) -> None:
        (folder / "node_modules").mkdir()
        if not any(wanted.values()):
            return
        failure = await self._run_npm(folder, wanted, timeout)
        if failure is None:
            return
        if failure.is_project_fault:
            raise PackageError(failure.summary)
        raise InstallFault(f"npm install failed: {failure.advice(self.root)}")

    async def _run_npm(
        self, folder: Path, wanted: Dependencies, timeout: float, more: Sequence[str] = ()
    ) -> NpmFailure | None:
        manifest: dict[str, object] = {"name": "project", "private": True, **wanted}
        (folder / "package.json").write_text(json.dumps(manifest, indent=2))
        problem = await not_in_a_registry(self.node, folder)
        if problem:
            raise PackageError(f"package.json: {problem}")
        arguments = ["install", f"--before={self.before.isoformat()}", *more]
        failure = await npm(self.node, arguments, cwd=folder, timeout=timeout, bounded=folder)
        if failure and failure.code == "ERESOLVE":
            # Peer ranges that disagree are a warning to other package managers, and no mistake in the code.
            failure = await npm(self.node, [*arguments, "--force"], cwd=folder, timeout=timeout, bounded=folder)
        return failure


def parse_dependencies(package_json: str) -> Dependencies:
    """Packages and ranges of a package.json: what must be there, and what may be left out.

    Raises `PackageError` where the text is no package.json, or asks for something that is not in the registry.
    """
    try:
        data = decode(package_json, _PACKAGE_JSON)
    except ValueError as error:
        raise PackageError(f"package.json: not valid JSON: {error}") from None
    if not isinstance(data, dict):
        raise PackageError("package.json: not a JSON object")
    wanted: dict[str, str] = {}
    for section in ("peerDependencies", "devDependencies", "dependencies"):
        wanted |= _section(data, section)
    optional = {name: spec for name, spec in _section(data, "optionalDependencies").items() if name not in wanted}
    if len(wanted) + len(optional) > _LARGEST:
        raise PackageError(f"package.json: {len(wanted) + len(optional)} dependencies (at most {_LARGEST})")
    if len({name.lower() for name in (*wanted, *optional)}) < len(wanted) + len(optional):
        raise PackageError("package.json: two dependencies whose names differ in upper and lower case alone")
    return {"dependencies": dict(sorted(wanted.items())), "optionalDependencies": dict(sorted(optional.items()))}


def _section(data: dict[str, Any], section: str) -> dict[str, str]:
    entries = data.get(section) or {}
    if not isinstance(entries, dict):
        raise PackageError(f"package.json: '{section}' is not an object")
    return {name: _check(name, spec) for name, spec in entries.items()}


def _check(name: str, spec: object) -> str:
    if not _is_name(name):
        raise PackageError(f"package.json: {name[:80]!r} is not a package name")
    if not isinstance(spec, str):
        raise PackageError(f"package.json: the version of '{name}' is not text")
    alias = _ALIAS.fullmatch(spec)
    if len(spec) > _LONGEST_SPEC or not (_is_name(alias[1]) if alias else _REGISTRY_SPEC.fullmatch(spec)):
        raise PackageError(
            f"package.json: '{name}': '{spec[:80]}' does not name a version in the registry "
            "(file:, link:, git and URL dependencies are not installed)"
        )
    return spec


def _is_name(name: str) -> bool:
    return (
        len(name) <= _LONGEST_NAME
        and _PACKAGE_NAME.fullmatch(name) is not None
        and not name.startswith("_")
        and name not in _OF_EVERY_OBJECT
        and name.lower() not in ("node_modules", "favicon.ico")
    )


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
