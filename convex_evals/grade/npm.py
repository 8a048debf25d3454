"""npm: installing packages by our own configuration, and reading what it says when it cannot."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.grade.node import Node
from convex_evals.process import Completed, run

Progress = Callable[[str, int, int], None]  # what, done, total; total 0 where it is not known

# Never scripts, never audits; few and short retries, so that a machine without network hears of it in seconds.
_FLAGS = (
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--json",
    "--loglevel=warn",
    "--fetch-retries=2",
    "--fetch-retry-mintimeout=500",
    "--fetch-retry-maxtimeout=4000",
)
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
    }
)
# npm takes a file that it cannot unpack for a warning and ends well.
_TORN = re.compile(r"TAR_ENTRY_ERROR (E\w+)")
_ADVICE = {
    "ENOSPC": "the disk is full; free some space and run the command again",
    "EROFS": "the file system is read-only; choose another cache folder with CONVEX_EVALS_CACHE",
    "EACCES": "no permission to write; choose another cache folder with CONVEX_EVALS_CACHE",
}
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

    @property
    def advice(self) -> str:
        """One clause: what happened and what to do."""
        if self.code in _NETWORK:
            return (
                f"the npm registry cannot be reached ({self.code}); connect to the network once, then it works offline"
            )
        return _ADVICE.get(self.code, f"npm says {self.code}: {self.summary}")


async def npm(node: Node, arguments: Sequence[str], *, cwd: Path, timeout: float) -> NpmFailure | None:
    """Run npm in `cwd`; None on success."""
    argv: list[str | Path] = [node.executable, node.npm_cli, *arguments, *_FLAGS]
    # On a full disk it would go on for half a minute, unpacking what finds no place.
    done = await run(
        argv, cwd=cwd, env=node.npm_environment(), timeout=timeout, hopeless=lambda x: bool(_TORN.search(x))
    )
    torn = _TORN.search(done.stderr)
    if torn:
        return NpmFailure(torn[1], "a package could not be unpacked")
    return None if done.status == 0 else _failure(done, timeout)


def _failure(done: Completed, timeout: float) -> NpmFailure:
    if done.status is None:
        return NpmFailure("ETIME", f"not finished within {timeout:.0f} s")
    try:
        error = json.loads(done.stdout[done.stdout.index("{") :])["error"]
        return NpmFailure(str(error.get("code") or "EUNKNOWN"), str(error.get("summary") or "").strip())
    except (ValueError, KeyError, TypeError):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        code = "ENOSPC" if "ENOSPC" in done.stderr else "EUNKNOWN"
        return NpmFailure(code, lines[-1] if lines else f"exit status {done.status}")


def count_packages(node_modules: Path) -> int:
    """Packages unpacked so far: what a progress bar shows."""
    if not node_modules.is_dir():
        return 0
    return sum(
        sum(1 for _ in entry.iterdir()) if entry.name.startswith("@") and entry.is_dir() else 1
        for entry in node_modules.iterdir()
        if not entry.name.startswith(".")
    )


def remove_tree(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
