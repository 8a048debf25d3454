"""What containment costs: projects graded in a minute under a sandbox, against without one, alternating in one run.

    python bench/sandbox.py [--evals N] [--filter REGEX] [--rounds N] [--workers N] [--level strict] [--json]
    python bench/sandbox.py --processors ...     what it brings that workers keep to processors of their own

Grades the answers of the first N evals of each category that the filter leaves. Both services are warm before the clock
runs; a round is all answers once one way and once the other. Fails where a verdict differs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from convex_evals.config import ProjectConfig
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.service import GradingService
from convex_evals.grading.setup import ready_service
from convex_evals.records import Outcome
from convex_evals.suite.suite import Eval, load_suite
from scripts.command import start

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Way:
    """One of the two that are compared."""

    name: str
    containment: Containment
    processors: bool = True


async def grade_all(service: GradingService, evals: list[Eval], workers: int) -> float:
    """Seconds for the answers of all `evals`."""
    places = asyncio.Semaphore(workers)

    async def one(ev: Eval) -> None:
        async with places:
            verdict = await service.grade(ev, ev.answer().files)
            if verdict.outcome is not Outcome.PASSED:
                sys.exit(f"{ev.id}: its answer is {verdict.outcome} under {service.tester.sandbox.level}")

    start = time.perf_counter()
    await asyncio.gather(*(one(ev) for ev in evals))
    return time.perf_counter() - start


def without_processors(service: GradingService) -> None:
    """Let its workers run wherever the system likes."""
    for _ in range(service.workers.qsize()):
        service.workers.put_nowait(replace(service.workers.get_nowait(), processors=()))


async def measure(evals: list[Eval], ways: tuple[Way, Way], rounds: int, workers: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {way.name: [] for way in ways}
    async with AsyncExitStack() as stack:
        services = {}
        for way in ways:
            opened = ready_service(ROOT, ProjectConfig(), workers, lambda *_: None, lambda _: None, way.containment)
            services[way.name] = await stack.enter_async_context(opened)
            if not way.processors:
                without_processors(services[way.name])
        for service in services.values():
            await grade_all(service, evals, workers)
        for number in range(rounds):
            # Whoever comes second finds a warmer machine: they take turns.
            order = list(services) if number % 2 == 0 else list(reversed(services))
            for name in order:
                times[name].append(await grade_all(services[name], evals, workers))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--evals", type=int, default=1, help="of each category")
    parser.add_argument("--filter", action="append", default=[], help="only evals whose id matches")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--level", type=Level, default=Level.STRICT)
    parser.add_argument("--processors", action="store_true", help="compare any processors with own processors")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    by_category: dict[str, list[Eval]] = {}
    for ev in load_suite(ROOT).select(options.filter):
        by_category.setdefault(ev.id.partition("/")[0], []).append(ev)
    evals = [ev for found in by_category.values() for ev in found[: options.evals]]
    contained = Containment(options.level)
    if options.processors:
        ways = Way("any", contained, processors=False), Way("own", contained)
    else:
        ways = Way("none", Containment(Level.NONE)), Way(options.level.value, contained)
    times = asyncio.run(measure(evals, ways, options.rounds, options.workers))
    first, second = (statistics.median(times[way.name]) / len(evals) for way in ways)
    if options.as_json:
        medians = {f"{ways[0].name}_s": first, f"{ways[1].name}_s": second}
        print(json.dumps({**medians, "throughput": first / second, "times_s": times}))
        return
    print(f"{len(evals)} answers, {options.workers} workers, {options.rounds} rounds; seconds per project, median")
    for way, median in zip(ways, (first, second), strict=True):
        print(f"{way.name:10} {median:6.3f}")
    print(f"throughput of {ways[1].name} against {ways[0].name}: {first / second:.0%}")


if __name__ == "__main__":
    start(main)
