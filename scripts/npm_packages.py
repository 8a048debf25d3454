"""Installs the npm packages that a script needs, as a lockfile of this repository names them."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.node import Node
from convex_evals.grading.npm import npm
from convex_evals.grading.once import make_once

_SECONDS = 300


async def install_packages(project: Path, cache: Path, node: Node, options: Sequence[str] = ()) -> Path:
    """The folder `node_modules` of the lockfile in `project`; installed into `cache` at first use.

    `options` are those of `npm ci`.
    """
    lock = hashlib.sha256((project / "package-lock.json").read_bytes()).hexdigest()
    target = cache / "scripts" / f"{project.name}-{lock[:12]}"

    async def install(folder: Path) -> None:
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(project / name, folder / name)
        failure = await npm(node, ["ci", *options], cwd=folder, timeout=_SECONDS)
        if failure:
            raise UserError(f"cannot install the packages of {project}: {failure.advice(folder)}")

    await make_once(target, install, quietly)
    return target / "node_modules"


def quietly(what: str, done: int, total: int) -> None:
    """Progress is for those who wait for minutes."""
