"""Whether a change made grading slower, or changed a verdict: `cli validate` at two revisions, in turn.

    python bench/revisions.py BASE [--filter REGEX] [--rounds 3] [--workers 2] [--json]

BASE is checked out into a temporary folder; the other side is this checkout as it stands. Both grade the evals of
BASE, one after the other, in alternating order, so that a machine whose speed drifts slows both. A first round warms
both caches and is not counted. Prints the seconds of each side, the median of the ratios (this checkout to BASE), and
every project whose outcome, or the step that caught it, differs. Exits with 1 where one does. Only grading is measured:
the graders' own types, which newer revisions check too, are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from scripts.command import start

ROOT = Path(__file__).parents[1]
_CLEAN, _OFF = 0, 4  # exit codes of `cli validate`: both come with results
Verdicts = dict[str, tuple[str, str | None]]


@dataclass(frozen=True)
class Measured:
    """One run of `cli validate`."""

    wall_seconds: float
    cpu_seconds: float  # of the command and all that it waited for
    verdicts: Verdicts  # outcome and catching step by project
    reasons: dict[str, str | None]


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A folder with `revision` of this repository. Raises `UserError` where there is no such revision."""
    with tempfile.TemporaryDirectory(prefix="bench-") as parent:
        folder = Path(parent, "base")
        git = ["git", "-C", str(ROOT), "worktree"]
        done = subprocess.run(
            [*git, "add", "--detach", str(folder), revision], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise UserError(f"{revision}: {done.stderr.strip().splitlines()[-1]}; give a commit of this repository")
        try:
            yield folder
        finally:
            subprocess.run([*git, "remove", "--force", str(folder)], capture_output=True, check=False)


def validate(tool: Path, suite: Path, pattern: str | None, workers: int) -> Measured:
    """Grade the projects of `suite` with the code in `tool`."""
    argv = [sys.executable, str(tool / "cli.py"), "-C", str(suite), "validate", "--json", "--workers", str(workers)]
    argv += ["--project", "."]  # all projects, without what is checked of the graders themselves
    argv += ["-f", pattern] if pattern else []
    env = {**os.environ, "PYTHONPATH": str(tool)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(argv, cwd=tool, env=env, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (_CLEAN, _OFF):
        raise UserError(f"cli validate at {tool.name} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    projects = json.loads(done.stdout)["projects"]
    named = {f"{p['eval']} {p['project']}": p for p in projects}
    cpu = sum(getattr(after, name) - getattr(before, name) for name in ("ru_utime", "ru_stime"))
    verdicts = {name: (p["outcome"], p["caught_by"]) for name, p in named.items()}
    return Measured(wall, cpu, verdicts, {name: p["reason"] for name, p in named.items()})


def differences(new: Measured, base: Measured) -> list[str]:
    """A line for each project that the two sides judge differently."""
    lines = []
    for name in sorted(new.verdicts.keys() | base.verdicts.keys()):
        ours, theirs = new.verdicts.get(name), base.verdicts.get(name)
        if ours != theirs:
            lines.append(f"{name}: {theirs} at BASE, {ours} here: {(new.reasons.get(name) or '')[:300]!r}")
    return lines


@dataclass(frozen=True)
class Comparison:
    """All counted rounds: this checkout first, BASE second."""

    rounds: tuple[tuple[Measured, Measured], ...]
    different: tuple[str, ...]  # a line for each project

    def to_json(self) -> dict[str, object]:
        wall = [new.wall_seconds / old.wall_seconds for new, old in self.rounds]
        cpu = [new.cpu_seconds / old.cpu_seconds for new, old in self.rounds]
        return {
            "projects": len(self.rounds[0][0].verdicts),
            "wall_ratio": round(statistics.median(wall), 3),
            "wall_ratios": [round(ratio, 3) for ratio in wall],
            "cpu_ratio": round(statistics.median(cpu), 3),
            "different": list(self.different),
        }


def compare(base: Path, pattern: str | None, rounds: int, workers: int) -> Comparison:
    """Measure both sides `rounds` times, after a round that is not counted."""
    counted: list[tuple[Measured, Measured]] = []
    different: set[str] = set()
    for number in range(rounds + 1):
        order = (ROOT, base) if number % 2 else (base, ROOT)
        measured = {tool: validate(tool, base, pattern, workers) for tool in order}
        new, old = measured[ROOT], measured[base]
        different |= set(differences(new, old))
        if number:
            counted.append((new, old))
        times = f"{new.wall_seconds:.1f} s here, {old.wall_seconds:.1f} s at BASE, {len(new.verdicts)} projects"
        print(f"round {number}: {times}{'' if number else ' (not counted)'}", file=sys.stderr, flush=True)
    return Comparison(tuple(counted), tuple(sorted(different)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("base", metavar="BASE", help="a commit to compare with")
    parser.add_argument("--filter", help="only evals whose id matches")
    parser.add_argument("--rounds", type=int, default=3, help="counted ones, after one that warms caches")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    with checkout(options.base) as base:
        found = compare(base, options.filter, max(1, options.rounds), options.workers)
    data = found.to_json()
    if options.as_json:
        print(json.dumps(data, indent=2))
    else:
        print(f"{data['projects']} projects; time of this checkout to BASE's: {data['wall_ratio']} (median of")
        print(f"{data['wall_ratios']}); processor time of the commands and what they waited for: {data['cpu_ratio']}")
        print("\n".join(["verdicts that differ:", *found.different]) if found.different else "verdicts: all alike")
    return 1 if found.different else 0


if __name__ == "__main__":
    start(main)
