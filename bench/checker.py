"""What the checker's way of starting brings: processor time of one process over answers, three ways, alternating.

    python bench/checker.py [--filter REGEX] [--rounds N] [--json]

A new checker type-checks, lints and bundles the answers of the evals that the filter leaves, one after another: as
graders start it, without V8's flags of `checker/flags.json`, and without the compiled code of its libraries. The first
project is told apart: it pays for loading and for what is learnt of libraries. A round that does not count comes first,
since V8 has compiled code only for flags that it has seen.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from convex_evals.config import ProjectConfig, cache_dir
from convex_evals.grading.packages import PackageStore, link_packages
from convex_evals.grading.scratch import write_files
from convex_evals.grading.toolchain import Toolchain, ensure_toolchain
from convex_evals.suite.suite import Eval, load_suite, read_generated
from scripts.command import start

ROOT = Path(__file__).parents[1]
_TICK = os.sysconf("SC_CLK_TCK")
_OPERATIONS = ("typecheck", "lint", "bundle")  # bundling discards generated code, which the others want


@dataclass(frozen=True)
class Way:
    """How a checker is started."""

    name: str
    flags: bool = True
    environment: tuple[tuple[str, str], ...] = ()


WAYS = (
    Way("as it is"),
    Way("with V8's own flags", flags=False),
    Way("without compiled code", environment=(("NODE_DISABLE_COMPILE_CACHE", "1"),)),
)


@dataclass(frozen=True)
class Figures:
    """Processor seconds: medians over the rounds."""

    start_s: float  # until the first project is through
    project_s: float  # each further one


async def lay_out(evals: Sequence[Eval], toolchain: Toolchain, folder: Path) -> list[Path]:
    """The answers as projects below `folder`, with their packages and generated code."""
    packages = PackageStore(cache_dir() / "packages", toolchain.node, ProjectConfig().packages_before)
    projects = []
    for number, ev in enumerate(evals):
        files = ev.answer().files
        project = folder / f"{number:03}"
        write_files({**files, **read_generated(ev.path / "answer")}, project)
        link_packages(await packages.install(files["package.json"], timeout=600), project)
        projects.append(project)
    return projects


@contextmanager
def checker(toolchain: Toolchain, way: Way, home: Path) -> Iterator[subprocess.Popen[bytes]]:
    flags = json.loads(toolchain.script("checker/flags.json").read_text(encoding="utf-8"))
    argv = [toolchain.node.executable, *(flags if way.flags else ["--expose-gc"]), toolchain.script("checker/main.ts")]
    env = {**toolchain.node.environment(home), **dict(way.environment)}
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        try:
            yield process
            process.stdin.close()  # type: ignore[union-attr]
            process.wait(30)
        finally:
            process.kill()


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """Of the process alone, without esbuild, which is another."""
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def check_all(toolchain: Toolchain, way: Way, projects: Sequence[Path], folder: Path) -> Figures:
    """One process over all projects. Ends the script where it refuses one: they are answers."""
    seen: list[float] = []
    with checker(toolchain, way, folder) as process:
        assert process.stdin is not None and process.stdout is not None
        for project in projects:
            for op in _OPERATIONS:
                line = json.dumps({"id": 1, "op": op, "project": str(project), "out": str(folder / "push.json")})
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()
                answer = json.loads(process.stdout.readline())
                if not answer["ok"] or not answer["result"].get("ok", True):
                    sys.exit(f"{project}: {op}: {str(answer)[:500]}")
            seen.append(processor_seconds(process))
    return Figures(seen[0], (seen[-1] - seen[0]) / (len(seen) - 1))


def measure(toolchain: Toolchain, evals: Sequence[Eval], rounds: int) -> dict[str, Figures]:
    found: dict[str, list[Figures]] = {way.name: [] for way in WAYS}
    for number in range(rounds + 1):
        # Whoever comes later finds a warmer machine: they take turns.
        for way in WAYS if number % 2 else reversed(WAYS):
            with tempfile.TemporaryDirectory() as name:
                projects = asyncio.run(lay_out(evals, toolchain, Path(name)))
                figures = check_all(toolchain, way, projects, Path(name))
            if number:
                found[way.name].append(figures)
    return {
        name: Figures(statistics.median(f.start_s for f in all_), statistics.median(f.project_s for f in all_))
        for name, all_ in found.items()
    }


def render(found: Mapping[str, Figures]) -> str:
    base = found[WAYS[0].name]
    lines = [f"{'processor seconds':24}{'first project':>16}{'ratio':>8}{'each further':>16}{'ratio':>8}"]
    for name, figures in found.items():
        start, project = figures.start_s / base.start_s, figures.project_s / base.project_s
        lines.append(f"{name:24}{figures.start_s:16.2f}{start:8.2f}{figures.project_s:16.3f}{project:8.2f}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--filter", action="append", default=[], help="only evals whose id matches; two at least")
    parser.add_argument("--rounds", type=int, default=3, help="how often each way is measured; at least 1")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    evals = [e for e in load_suite(ROOT).select(options.filter) if (e.path / "answer" / "convex").is_dir()]
    if len(evals) < 2 or options.rounds < 1:
        parser.error("needs two evals and one round, at least")
    toolchain = asyncio.run(ensure_toolchain(cache_dir(), lambda *_: None))
    found = measure(toolchain, evals, options.rounds)
    print(json.dumps({k: asdict(v) for k, v in found.items()}, indent=2) if options.json else render(found))


if __name__ == "__main__":
    start(main)
