"""The Node side on disk: npm packages from our lockfile, and our TypeScript beside them, in the user's cache."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.grading.node import Node, find_node
from convex_evals.grading.npm import Progress, count_packages, npm, remove_tree
from convex_evals.grading.once import make_once
from convex_evals.process import run

SOURCES = Path(__file__).parents[1] / "node"
_INSTALL_SECONDS = 900
_BUILD_SECONDS = 120
_KEPT_SOURCES = 6


@dataclass(frozen=True)
class Toolchain:
    """Everything that grading executes, at fixed versions."""

    node: Node
    sources: Path  # a copy of convex_evals/node, with a node_modules in a folder above it
    lockfile_sha256: str

    @property
    def version(self) -> str:
        """Of all that is in it."""
        return f"{self.sources.parents[1].name}/{self.sources.name}"

    @property
    def node_modules(self) -> Path:
        return self.sources.parents[1] / "node_modules"

    @property
    def sealed_node(self) -> Path:
        """A copy of Node.js that may be executed, but not read: no other process can look into one that runs it."""
        return self.node_modules.parent / "sealed" / "node"

    def script(self, name: str) -> Path:
        return self.sources / name


def locate_toolchain(cache: Path) -> Toolchain:
    """Where the toolchain of this version stands, whether or not it is there yet."""
    node = find_node(cache)
    lock = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
    base = cache / "toolchain" / f"{lock[:12]}-node{node.version}"
    return Toolchain(node, base / "src" / _sources_key(), lock)


async def ensure_toolchain(cache: Path, progress: Progress) -> Toolchain:
    """The toolchain, installed at first use. Raises `UserError` where that is not possible."""
    _refuse_a_cache_of_others(cache)
    toolchain = locate_toolchain(cache)
    if toolchain.sources.is_dir() and toolchain.sealed_node.is_file():
        return toolchain
    base = toolchain.node_modules.parent
    await make_once(base, lambda folder: _install(toolchain.node, folder, progress), progress)
    await make_once(toolchain.sealed_node.parent, lambda folder: _seal(toolchain.node, folder), progress)
    await make_once(toolchain.sources, lambda folder: _build(toolchain, folder, progress), progress)
    _drop_old_sources(toolchain.sources.parent)
    return toolchain


def _refuse_a_cache_of_others(cache: Path) -> None:
    """What is in the cache is executed: no other user may be able to write there."""
    if not cache.is_dir():
        return
    found = cache.stat()
    # Root's home belongs to another user in some containers; root can trust any owner as much as itself.
    is_foreign = os.geteuid() != 0 and found.st_uid not in (0, os.geteuid())
    if is_foreign or found.st_mode & stat.S_IWOTH:
        whose = "belongs to another user" if is_foreign else "every user of this machine may write there"
        raise UserError(
            f"{cache}: {whose}, and what is in the cache is executed; "
            f"choose another folder with CONVEX_EVALS_CACHE{'' if is_foreign else f', or chmod o-w {cache}'}"
        )


async def _install(node: Node, folder: Path, progress: Progress) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(SOURCES / name, folder / name)
    packages = json.loads((folder / "package-lock.json").read_text())["packages"]
    # Packages inside of others are not counted while they are unpacked either.
    total = sum(1 for path, entry in packages.items() if path.count("node_modules/") == 1 and "os" not in entry)
    watcher = asyncio.create_task(_watch(folder / "node_modules", total, progress))
    try:
        failure = await npm(node, ["ci"], cwd=folder, timeout=_INSTALL_SECONDS)
    finally:
        watcher.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watcher
    if failure:
        raise UserError(f"cannot install the toolchain: {failure.advice(folder)}")


async def _seal(node: Node, folder: Path) -> None:
    target = folder / "node"
    await asyncio.to_thread(shutil.copyfile, node.executable, target)
    # The kernel lets no process trace another, or read its memory, whose executable it cannot read.
    target.chmod(0o111)


async def _watch(node_modules: Path, total: int, progress: Progress) -> None:
    while True:
        progress("installing the toolchain (once)", min(count_packages(node_modules), total), total)
        await asyncio.sleep(0.5)


async def _build(toolchain: Toolchain, folder: Path, progress: Progress) -> None:
    progress("building the toolchain (once)", 0, 1)
    for path in _source_files():
        target = folder / path.relative_to(SOURCES)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    env = toolchain.node.environment(folder)
    done = await run([toolchain.node.executable, folder / "build.ts"], cwd=folder, env=env, timeout=_BUILD_SECONDS)
    if done.status != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise UserError(f"cannot build the toolchain: {lines[0] if lines else f'exit status {done.status}'}")


def is_built(path: str) -> bool:
    """Whether build.ts makes a file of the sources: what is in it differs from machine to machine."""
    return ".bundle." in path


def _source_files() -> list[Path]:
    return sorted(
        path
        for path in SOURCES.rglob("*")
        if path.is_file()
        and not path.name.endswith(".test.ts")
        and not {"node_modules", "build", "test"} & set(path.relative_to(SOURCES).parts)
        and not is_built(path.name)
    )


def _sources_key() -> str:
    digest = hashlib.sha256()
    for path in _source_files():
        digest.update(
            path.relative_to(SOURCES).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest()
        )
    return digest.hexdigest()[:12]


def _drop_old_sources(parent: Path) -> None:
    folders = sorted((p for p in parent.iterdir() if p.is_dir()), key=lambda p: p.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT_SOURCES:]:
        remove_tree(folder)
