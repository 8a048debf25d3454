"""Many projects in a row: whether time and memory grow.

    python bench/endurance.py [--projects 500] [--workers 2] [--plot FILE.svg] [--json]

Grades answers, wrong and accepted projects of the suite in turn, each changed by a comment so that none was seen
before. Prints the medians of the first and of the last fifth, and fails where the last takes over a tenth more
memory, or a quarter more time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from pathlib import Path
from zlib import crc32

from bench.machine import memory_mib
from bench.pipeline import Case, again, cases_of
from convex_evals.config import ProjectConfig
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.setup import ready_service
from convex_evals.suite.suite import load_suite
from scripts.command import start

ROOT = Path(__file__).parents[1]
MOST_MEMORY, MOST_TIME = 1.1, 1.25


async def grade_in_a_row(cases: list[Case], workers: int) -> list[tuple[float, float]]:
    """Seconds that each project took, and MiB that the machine used when it was done, in the order of their ends."""
    found: list[tuple[float, float]] = []
    waiting = iter(cases)
    config = ProjectConfig()
    async with ready_service(ROOT, config, workers, lambda *_: None, lambda _: None, Containment()) as service:

        async def work() -> None:
            for case in waiting:
                start = time.perf_counter()
                await service.grade(case.ev, case.files)
                found.append((time.perf_counter() - start, await asyncio.to_thread(memory_mib)))
                if sys.stderr.isatty():
                    print(f"\r{len(found)} of {len(cases)} ", end="", file=sys.stderr, flush=True)

        await asyncio.gather(*(work() for _ in range(workers)))
    return found


def plot(found: list[tuple[float, float]], file: Path) -> None:
    try:
        import matplotlib
    except ImportError:
        sys.exit("--plot needs matplotlib: pip install -e '.[plots]'")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "endurance"
    from matplotlib import pyplot

    figure, (upper, lower) = pyplot.subplots(2, sharex=True, figsize=(8, 5))
    numbers = range(1, len(found) + 1)
    upper.plot(numbers, [seconds for seconds, _ in found], ".", markersize=3)
    upper.set_ylabel("seconds per project")
    upper.set_ylim(bottom=0)
    lower.plot(numbers, [mib for _, mib in found], linewidth=1)
    lower.set_ylabel("MiB, everything together")
    lower.set_xlabel("projects graded")
    lower.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--projects", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--filter", action="append", default=[], help="only evals whose id matches")
    parser.add_argument("--plot", type=Path, help="an SVG file to write")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    cases = cases_of(load_suite(ROOT).select(options.filter), None)
    # In a fixed order in which neighbours differ: by category, the last fifth would hold other graders than the first.
    cases.sort(key=lambda case: crc32(case.name.encode()))
    cases = again(cases, -(-options.projects // len(cases)))[: options.projects]
    found = asyncio.run(grade_in_a_row(cases, options.workers))
    if options.plot:
        plot(found, options.plot)
    fifth = max(1, len(found) // 5)
    time_ratio = statistics.median(s for s, _ in found[-fifth:]) / statistics.median(s for s, _ in found[:fifth])
    memory_ratio = statistics.median(m for _, m in found[-fifth:]) / statistics.median(m for _, m in found[:fifth])
    peak = max(mib for _, mib in found)
    if options.as_json:
        result = {"projects": len(found), "time": time_ratio, "memory": memory_ratio, "peak_mib": peak}
        print(json.dumps({**result, "samples": found}))
    else:
        print(
            f"{len(found)} projects; the last fifth against the first: "
            f"time {time_ratio:.2f}x, memory {memory_ratio:.2f}x"
        )
        print(f"peak {peak:.0f} MiB")
    if time_ratio > MOST_TIME or memory_ratio > MOST_MEMORY:
        sys.exit("time or memory grows with the number of projects")


if __name__ == "__main__":
    start(main)
