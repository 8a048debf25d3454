"""How fast the embedded backend starts and deploys, and what it keeps in memory.

    python bench/backend.py [--runs N] [--json]

Each run starts a backend process, waits until it says that it is ready, lets it settle, reads its resident memory,
deploys a small app through the official push protocol, and reads the memory again. Bundling is not part of a
deployment here: it is the checker's work, done once. Medians of all runs; exit code 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.grading.backends.embedded import EmbeddedBackend
from convex_evals.grading.backends.push import push
from convex_evals.grading.checker import Checker
from convex_evals.grading.sandbox.base import Launch, Level, Network, NoSandbox
from convex_evals.grading.sandbox.client import LauncherClient, open_launcher
from convex_evals.grading.toolchain import Toolchain, ensure_toolchain
from convex_evals.process import Child
from scripts.command import start

TARGETS = {"ready_s": 0.25, "idle_mib": 120.0}
SETTLE_SECONDS = 1.0
APP = {
    "package.json": '{ "dependencies": { "convex": "*" } }',
    "convex/schema.ts": """
import { defineSchema, defineTable } from "convex/server";
import { v } from "convex/values";
export default defineSchema({ notes: defineTable({ text: v.string() }).index("by_text", ["text"]) });
""",
    "convex/notes.ts": """
import { mutation, query } from "./_generated/server";
import { v } from "convex/values";
export const list = query({ args: {}, handler: async (ctx) => await ctx.db.query("notes").collect() });
export const add = mutation({
  args: { text: v.string() },
  handler: async (ctx, note) => await ctx.db.insert("notes", note),
});
""",
}


@dataclass(frozen=True)
class Figures:
    """Of one run, or medians of several."""

    ready_s: float  # from the start of the process to its ready line
    idle_mib: float  # resident, nothing deployed yet
    deploy_s: float  # the three requests of a push
    deployed_mib: float  # resident, the app deployed


def resident_mib(pid: int) -> float:
    """Resident memory of a process: of Linux's own account, or of `ps` where there is none."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024
    listed = subprocess.run(["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True)
    return int(listed.stdout) / 1024


@asynccontextmanager
async def bundled(toolchain: Toolchain, folder: Path) -> AsyncIterator[Path]:
    """The push request of the app, in a file."""
    project, bundle = folder / "project", folder / "push.json"
    for name, text in APP.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    (project / "node_modules").symlink_to(toolchain.node_modules)
    async with open_launcher() as launcher, Checker(toolchain, NoSandbox(launcher), folder, folder) as checker:
        await checker.request("bundle", project=project, out=bundle, timeout=60)
    yield bundle


class Watched:
    """Knows the process that it launched last."""

    level = Level.NONE

    def __init__(self, launcher: LauncherClient) -> None:
        self._sandbox = NoSandbox(launcher)
        self.pid = 0

    async def launch(self, launch: Launch) -> Child:
        child = await self._sandbox.launch(launch)
        self.pid = child.pid
        return child

    def network(self) -> AbstractAsyncContextManager[Network]:
        return self._sandbox.network()


async def measure(toolchain: Toolchain, folder: Path, bundle: Path) -> Figures:
    async with open_launcher() as launcher:
        sandbox = Watched(launcher)
        start = time.perf_counter()
        async with EmbeddedBackend(toolchain, sandbox).start(folder) as endpoints:
            ready_s = time.perf_counter() - start
            await asyncio.sleep(SETTLE_SECONDS)
            idle_mib = resident_mib(sandbox.pid)
            start = time.perf_counter()
            await push(endpoints, bundle, timeout=60)
            return Figures(ready_s, idle_mib, time.perf_counter() - start, resident_mib(sandbox.pid))


async def run(runs: int) -> list[Figures]:
    toolchain = await ensure_toolchain(cache_dir(), lambda *_: None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with bundled(toolchain, folder) as bundle:
            scratches = [folder / f"run-{n}" for n in range(runs)]  # a socket stands beside each
            for scratch in scratches:
                scratch.mkdir()
            return [await measure(toolchain, scratch, bundle) for scratch in scratches]


def medians(figures: list[Figures]) -> Figures:
    columns = [asdict(row) for row in figures]
    return Figures(**{name: round(statistics.median(row[name] for row in columns), 4) for name in columns[0]})


def render(median: Figures, figures: list[Figures]) -> str:
    lines = [f"median of {len(figures)} backend processes (worst in brackets)"]
    labels = {
        "ready_s": "ready",
        "idle_mib": "resident, idle",
        "deploy_s": "deploy",
        "deployed_mib": "resident, deployed",
    }
    for name, label in labels.items():
        value, worst = getattr(median, name), max(getattr(row, name) for row in figures)
        unit, digits = ("s", 3) if name.endswith("_s") else ("MiB", 0)
        target = f"   target: at most {TARGETS[name]:g} {unit}: {verdict(median, name)}" if name in TARGETS else ""
        lines.append(f"{label:20} {value:7.{digits}f} {unit:3} ({worst:.{digits}f}){target}")
    return "\n".join(lines)


def verdict(median: Figures, name: str) -> str:
    return "met" if getattr(median, name) <= TARGETS[name] else "MISSED"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=9, help="how many processes; at least 1")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    figures = asyncio.run(run(options.runs))
    median = medians(figures)
    is_met = {name: verdict(median, name) == "met" for name in TARGETS}
    if options.json:
        report = {"median": asdict(median), "runs": [asdict(row) for row in figures], "targets": TARGETS, "met": is_met}
        print(json.dumps(report, indent=2))
    else:
        print(render(median, figures))
    return 0 if all(is_met.values()) else 1


if __name__ == "__main__":
    start(main)
