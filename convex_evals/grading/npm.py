"""npm: installing packages by our own configuration, and reading what it says when it cannot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

from convex_evals.errors import write_advice
from convex_evals.grading.node import Node
from convex_evals.inputs.bounded_json import Limits, decode
from convex_evals.process import OUTPUT_LIMIT, Completed, run

Progress = Callable[[str, int, int], None]  # what, done, total; total 0 where it is not known

# Never scripts, never audits; few and short retries, so that it fails within seconds on a machine without a network.
_FLAGS = (
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--json",
    "--loglevel=warn",
    # A package of the registry may depend on a repository, an address, or a place on this machine.
    *(f"--allow-{kind}=none" for kind in ("directory", "file", "git", "remote")),
    "--git=no-git-here",
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=500",
    "--fetch-retry-maxtimeout=4000",
)
# A package depends on something that is not in the registry, and that `_FLAGS` do not allow.
_OUTSIDE_THE_REGISTRY = ("EALLOWDIRECTORY", "EALLOWFILE", "EALLOWGIT", "EALLOWREMOTE")
# The package or the version is not there, or the request makes no sense: npm's codes for the project's own fault.
_PROJECT_FAULTS = frozenset(
    {
        "E404",
        "ETARGET",
        "EINVALIDPACKAGENAME",
        "EINVALIDTAGNAME",
        "EUNSUPPORTEDPROTOCOL",
        "EJSONPARSE",
        "ERESOLVE",
        "ENOVERSIONS",
        "EBADPLATFORM",
        "EOVERRIDE",
        "ETOOLARGE",
        *_OUTSIDE_THE_REGISTRY,
    }
)
# npm takes a file that it cannot unpack for a warning and ends well. Authors of packages can have it print anything,
# but not at the beginning of a line.
_TORN = re.compile(r"^npm warn tar TAR_ENTRY_ERROR (E\w+)", re.M | re.I)
_FULL = re.compile(r"^npm (?:error|ERR!) (?:code |nospc )?ENOSPC\b", re.M)
_ELSEWHERE = "choose another cache folder with CONVEX_EVALS_CACHE"
# What all packages of one project may unpack.
_LARGEST_BYTES, _MOST_FILES = 2 * 2**30, 300_000
_HEAP_MIB = 2048
_TRIED_BYTES = 64 * 1024
_LOOK_SECONDS = 0.5
_SPECS_SECONDS = 30.0
_SPECS = Path(__file__).parents[1] / "node" / "install" / "registry_specs.ts"
_OUTPUT = Limits(2 * OUTPUT_LIMIT, values=5_000)  # of what it prints, its end
_MOST_WORDS = 4_000  # characters
_NETWORK = frozenset(
    {
        "ECONNREFUSED",
        "ECONNRESET",
        "ENOTFOUND",
        "EAI_AGAIN",
        "ETIMEDOUT",
        "ENETUNREACH",
        "EHOSTUNREACH",
        "EIDLETIMEOUT",
    }
)


@dataclass(frozen=True)
class NpmFailure:
    """Why npm did not succeed."""

    code: str
    summary: str

    @property
    def is_project_fault(self) -> bool:
        return self.code in _PROJECT_FAULTS

    def advice(self, folder: Path) -> str:
        """One clause: what happened while packages were unpacked into `folder`, and what to do.

        npm's word for a full disk or a missing permission may be about a place that a package has named: whether there
        is a place to write to is tried.
        """
        if self.code in _NETWORK:
            return (
                f"the npm registry cannot be reached ({self.code}); connect to the network once, then it works offline"
            )
        return write_advice(_cannot_write(folder), _ELSEWHERE) or f"npm says {self.code}: {self.summary}"


def _cannot_write(folder: Path) -> int | None:
    """The `errno` with which a file of a few blocks cannot be written into `folder`; None where it can."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_TRIED_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return error.errno
    return None


async def npm(
    node: Node, arguments: Sequence[str], *, cwd: Path, timeout: float, bounded: Path | None = None
) -> NpmFailure | None:
    """Run npm in `cwd`; None on success. What it unpacks into `bounded` may be large, but not without end."""
    heap = f"--max-old-space-size={_HEAP_MIB}"
    argv: list[str | Path] = [node.executable, heap, "--disable-sigusr1", node.npm_cli, *arguments, *_FLAGS]
    size = _Size(bounded)
    # On a full disk it would go on for half a minute, unpacking what finds no place.
    done = await run(
        argv,
        cwd=cwd,
        env=node.npm_environment(),
        timeout=timeout,
        hopeless=lambda x: size.too_large() or bool(_TORN.search(x)),
    )
    if bounded and not size.exceeded:
        await asyncio.to_thread(size.look, bounded)
    if size.exceeded:
        return NpmFailure("ETOOLARGE", f"its packages are too large (at most {_LARGEST_BYTES // 2**30} GiB)")
    torn = _TORN.search(done.stderr)
    if torn:
        return NpmFailure(torn[1], "a package could not be unpacked")
    return None if done.status == 0 else _failure(done, timeout)


@dataclass
class _Size:
    """Watches over a folder, in a thread of its own: large ones take long to walk through."""

    folder: Path | None
    exceeded: bool = False
    _looking: Thread | None = None
    _pause_until: float = 0.0

    def too_large(self) -> bool:
        if self.folder and time.monotonic() >= self._pause_until and not (self._looking and self._looking.is_alive()):
            self._looking = Thread(target=self.look, args=(self.folder,), daemon=True)
            self._looking.start()
        return self.exceeded

    def look(self, folder: Path) -> None:
        start = time.monotonic()
        size = files = 0
        for parent, folders, names in os.walk(folder):
            files += len(folders) + len(names)
            for name in names:
                with contextlib.suppress(OSError):
                    size += os.lstat(f"{parent}/{name}").st_blocks * 512
            if size > _LARGEST_BYTES or files > _MOST_FILES:
                self.exceeded = True
                return
        # At most a fifth of a processor.
        self._pause_until = time.monotonic() + max(_LOOK_SECONDS, 4 * (time.monotonic() - start))


async def not_in_a_registry(node: Node, folder: Path) -> str | None:
    """Which dependency of the package.json in `folder` npm does not take for one of a registry, and why."""
    argv: list[str | Path] = [node.executable, "--disable-sigusr1", _SPECS, node.npm_cli]
    done = await run(argv, cwd=folder, env=node.environment(folder), timeout=_SPECS_SECONDS)
    try:
        problem = decode(done.stdout, _OUTPUT)
        return f"'{problem['name']}': {problem['problem']}"[:_MOST_WORDS] if problem else None
    except (ValueError, TypeError, KeyError):
        return None  # npm will say what is wrong


def _failure(done: Completed, timeout: float) -> NpmFailure:
    if done.status is None:
        return NpmFailure("ETIME", f"not finished within {timeout:.0f} s")
    try:
        error = decode(done.stdout[done.stdout.index("{") :], _OUTPUT)["error"]
        summary = str(error.get("summary") or "").strip()[:_MOST_WORDS]
        return NpmFailure(str(error.get("code") or "EUNKNOWN")[:80], summary)
    except (ValueError, KeyError, TypeError, AttributeError):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        code = "ENOSPC" if _FULL.search(done.stderr) else "EUNKNOWN"
        return NpmFailure(code, lines[-1][:_MOST_WORDS] if lines else f"exit status {done.status}")


def count_packages(node_modules: Path) -> int:
    """Packages unpacked so far: what a progress bar shows. npm makes the folders of all before it has one of them."""
    names = ("[!.@]*", "@*/*")
    return sum(1 for name in names for _ in node_modules.glob(f"{name}/package.json"))


def remove_tree(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
