"""Making ready to grade one suite: toolchain, packages, workers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from convex_evals.config import ProjectConfig, cache_dir
from convex_evals.errors import InfrastructureError, UserError
from convex_evals.grade.backends.embedded import EmbeddedBackend
from convex_evals.grade.grader import Grader, canary_eval, open_grader
from convex_evals.grade.npm import Progress
from convex_evals.grade.packages import PackageError, PackageStore, parse_dependencies
from convex_evals.grade.sandbox import NoSandbox
from convex_evals.grade.scratch import scratch_folder
from convex_evals.grade.tester import Tester
from convex_evals.grade.toolchain import ensure_toolchain

Warn = Callable[[str], None]


@asynccontextmanager
async def ready_grader(
    suite: Path, config: ProjectConfig, workers: int, progress: Progress, warn: Warn
) -> AsyncIterator[Grader]:
    """A grader for the suite at `suite`; everything it needs is installed first, where it is not there yet.

    Raises `UserError` where that is impossible.
    """
    cache = cache_dir()
    toolchain = await ensure_toolchain(cache, progress)
    packages = PackageStore(cache / "packages", toolchain.node, config.packages_before)
    suite_packages = await _suite_packages(suite, packages, progress, warn)
    await _install(packages, canary_eval().answer().files["package.json"], progress)
    sandbox = NoSandbox()
    backend = EmbeddedBackend(toolchain, sandbox)
    tester = Tester(toolchain, sandbox, suite_packages)
    with scratch_folder() as folder:
        async with open_grader(toolchain, packages, backend, tester, folder, workers) as grader:
            yield grader


async def _suite_packages(suite: Path, packages: PackageStore, progress: Progress, warn: Warn) -> list[Path]:
    """What graders' bare imports resolve from, besides the suite's own node_modules."""
    manifest = suite / "package.json"
    if (suite / "node_modules").is_dir() or not manifest.is_file():
        return []
    wanted, dropped = _registry_only(manifest)
    for name in dropped:
        warn(f"{manifest}: '{name}' does not come from the registry; graders that import it will fail")
    if not wanted:
        return []
    try:
        return [(await _install(packages, json.dumps({"dependencies": wanted}), progress)).parent]
    except PackageError as error:
        warn(f"{manifest}: {error}; graders resolve packages from the toolchain only")
        return []


def _registry_only(manifest: Path) -> tuple[dict[str, str], list[str]]:
    try:
        return parse_dependencies(manifest.read_text(encoding="utf-8")), []
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {manifest}: {error}") from None
    except PackageError:
        pass
    kept: dict[str, str] = {}
    dropped: list[str] = []
    try:
        data = json.loads(manifest.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(f"{manifest}:{error.lineno}: not valid JSON: {error.msg}") from None
    for section in ("devDependencies", "dependencies"):
        for name, spec in (data.get(section) or {}).items():
            try:
                kept.update(parse_dependencies(json.dumps({"dependencies": {name: spec}})))
            except PackageError:
                dropped.append(name)
    return kept, dropped


async def _install(packages: PackageStore, manifest: str, progress: Progress) -> Path:
    progress("preparing packages", 0, 0)
    try:
        return await packages.install(manifest, progress)
    except InfrastructureError as error:
        raise UserError(str(error)) from None
