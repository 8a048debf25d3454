"""Making ready to grade one suite: toolchain, packages, workers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from convex_evals.config import ProjectConfig, cache_dir
from convex_evals.errors import InfrastructureError, UserError
from convex_evals.grading.backends.embedded import EmbeddedBackend
from convex_evals.grading.checker import Checker
from convex_evals.grading.npm import Progress
from convex_evals.grading.packages import PackageError, PackageStore
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.scratch import scratch_folder
from convex_evals.grading.service import GradingService, canary_eval, open_service, readable_paths
from convex_evals.grading.suite_packages import MANIFEST, grader_packages, imported_packages, manifest_packages
from convex_evals.grading.tester import Tester
from convex_evals.grading.toolchain import ensure_toolchain

Warn = Callable[[str], None]
_PACKAGES_SECONDS = 600


@asynccontextmanager
async def ready_service(
    suite: Path, config: ProjectConfig, workers: int, progress: Progress, warn: Warn, containment: Containment
) -> AsyncIterator[GradingService]:
    """A grading service for the suite at `suite`; everything it needs is installed first, where it is not there yet.

    `containment` says under which sandbox it grades, and is told of code that goes without. Raises `UserError` where
    that is impossible.
    """
    cache = cache_dir()
    toolchain = await ensure_toolchain(cache, progress)
    packages = PackageStore(cache / "packages", toolchain.node, config.packages_before)
    await _install(packages, canary_eval().answer().files["package.json"], progress)
    level = await containment.choose(toolchain, cache)
    with scratch_folder() as folder:
        readable = readable_paths(packages, suite, ())
        async with open_sandbox(level, toolchain, folder, readable, lambda: containment.exposed(warn)) as sandbox:
            scratch = Path(tempfile.mkdtemp(prefix="checker-", dir=folder))
            async with Checker(toolchain, sandbox, scratch, folder, readable) as checker:
                suite_packages = await _suite_packages(suite, checker, packages, progress, warn)
            backend = EmbeddedBackend(toolchain, sandbox)
            tester = Tester(toolchain, sandbox, suite_packages)
            async with open_service(
                toolchain, packages, backend, tester, folder, workers, suite, strict_types=config.strict_types
            ) as service:
                yield service


async def _suite_packages(
    suite: Path, checker: Checker, packages: PackageStore, progress: Progress, warn: Warn
) -> list[Path]:
    """What graders' bare imports resolve from, besides the suite's own node_modules and the toolchain.

    All of it stands in the package store.
    """
    named = manifest_packages(suite)
    wanted = grader_packages(suite, named, await imported_packages(suite, checker), warn) if named else {}
    if not wanted:
        return []
    try:
        return [(await _install(packages, json.dumps({"dependencies": wanted}), progress)).parent]
    except PackageError as error:
        warn(f"{suite / MANIFEST}: {error}; graders resolve packages from the toolchain only")
        return []


async def _install(packages: PackageStore, manifest: str, progress: Progress) -> Path:
    progress("preparing packages", 0, 0)
    try:
        return await packages.install(manifest, timeout=_PACKAGES_SECONDS, progress=progress)
    except InfrastructureError as error:
        raise UserError(str(error)) from None
