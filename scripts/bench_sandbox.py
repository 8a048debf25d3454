"""What containment costs: projects graded in a minute under a sandbox, against without one, alternating in one run.

    python scripts/bench_sandbox.py [--evals N] [--filter REGEX] [--rounds N] [--workers N] [--level strict] [--json]

Grades the answers of the first N evals of each category that the filter leaves. Both graders are warm before the clock
runs; a round is all answers once without and once with the sandbox. Fails where a verdict differs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from convex_evals.config import ProjectConfig
from convex_evals.grade.grader import Grader
from convex_evals.grade.sandbox.base import Level
from convex_evals.grade.sandbox.choice import Containment
from convex_evals.grade.setup import ready_grader
from convex_evals.records import Outcome
from convex_evals.suite import Eval, load_suite

ROOT = Path(__file__).parents[1]


async def grade_all(grader: Grader, evals: list[Eval], workers: int) -> float:
    """Seconds for the answers of all `evals`."""
    places = asyncio.Semaphore(workers)

    async def one(ev: Eval) -> None:
        async with places:
            verdict = await grader.grade(ev, ev.answer().files)
            if verdict.outcome is not Outcome.PASSED:
                sys.exit(f"{ev.id}: its answer is {verdict.outcome} under {grader.tester.sandbox.level}")

    start = time.perf_counter()
    await asyncio.gather(*(one(ev) for ev in evals))
    return time.perf_counter() - start


async def measure(evals: list[Eval], level: Level, rounds: int, workers: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {"none": [], level.value: []}
    async with AsyncExitStack() as stack:
        graders = {
            name: await stack.enter_async_context(
                ready_grader(ROOT, ProjectConfig(), workers, lambda *_: None, lambda _: None, containment)
            )
            for name, containment in (("none", Containment(unsafe=True)), (level.value, Containment(level)))
        }
        for grader in graders.values():
            await grade_all(grader, evals, workers)
        for number in range(rounds):
            # Whoever comes second finds a warmer machine: they take turns.
            order = list(graders) if number % 2 == 0 else list(reversed(graders))
            for name in order:
                times[name].append(await grade_all(graders[name], evals, workers))
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--evals", type=int, default=1, help="of each category")
    parser.add_argument("--filter", help="only evals whose id matches")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--level", type=Level, default=Level.STRICT)
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    by_category: dict[str, list[Eval]] = {}
    for ev in load_suite(ROOT).select(options.filter, ()):
        by_category.setdefault(ev.id.partition("/")[0], []).append(ev)
    evals = [ev for found in by_category.values() for ev in found[: options.evals]]
    times = asyncio.run(measure(evals, options.level, options.rounds, options.workers))
    medians = {name: statistics.median(found) / len(evals) for name, found in times.items()}
    bare, contained = medians["none"], medians[options.level.value]
    if options.as_json:
        print(json.dumps({"none_s": bare, "contained_s": contained, "throughput": bare / contained, "times_s": times}))
        return
    print(f"{len(evals)} answers, {options.workers} workers, {options.rounds} rounds; seconds per project, median")
    print(f"none       {bare:6.3f}")
    print(f"{options.level.value:10} {contained:6.3f}")
    print(f"throughput with the sandbox: {bare / contained:.0%}")


if __name__ == "__main__":
    main()
