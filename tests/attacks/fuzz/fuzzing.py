"""Grades mutated projects, with neighbours after each batch, and looks at what came of them and of ourselves."""

from __future__ import annotations

import asyncio
import re
import resource
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from convex_evals.records import Verdict
from convex_evals.records.eval_config import Timeouts
from tests.attacks.bench import Bench, verdict_text
from tests.attacks.fuzz.mutate import Mutated, mutated

BATCH = 40
WORKERS = 2
# Of a busy machine, too: what is honest must not run into them.
TIMEOUTS = Timeouts(install=60, deploy=45, tsc=45, eslint=45, tests=45)
_OURS = re.compile(
    r"internal error|Traceback \(most recent|grade/sandbox/|convex_evals/(?!node)|RecursionError|MemoryError"
)
_LONGEST_LAG = 5.0
_MOST_GROWTH_MIB = 300
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Finding:
    """Something that must not be; `indexes` are the projects that may have brought it about."""

    indexes: tuple[int, ...]
    problem: str
    what: str


@dataclass
class Report:
    """What came of the projects so far."""

    seed: int
    outcomes: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    blamed: list[int] = field(default_factory=list)  # that brought processes of ours down, twice
    slowest: tuple[float, int] = (0.0, -1)  # seconds, project
    longest_lag: float = 0.0  # seconds that the event loop of the grading process was late
    growth_mib: float = 0.0  # of the grading process's memory
    neighbours: int = 0

    @property
    def graded(self) -> int:
        return sum(self.outcomes.values())


async def fuzz(bench: Bench, report: Report, indexes: Sequence[int], progress: Progress) -> None:
    """Grade the projects `indexes` into `report`, each batch by a service that has read nothing before."""
    before = _memory_mib()
    async with _watched_loop(report):
        for first in range(0, len(indexes), BATCH):
            await _batch(bench, report, indexes[first : first + BATCH])
            report.growth_mib = _memory_mib() - before
            progress(f"{report.graded} graded, {len(report.findings)} findings, {report.outcomes}")
    if report.longest_lag > _LONGEST_LAG:
        report.findings.append(Finding((), f"the event loop was late by {report.longest_lag:.1f} s", "lag"))
    if report.growth_mib > _MOST_GROWTH_MIB:
        report.findings.append(Finding((), f"the process grew by {report.growth_mib:.0f} MiB", "memory"))


async def _batch(bench: Bench, report: Report, indexes: Sequence[int]) -> None:
    neighbourhood = bench.neighbourhood
    assert neighbourhood
    turns = asyncio.Semaphore(WORKERS)
    async with bench.fresh_service(WORKERS) as service:

        async def one(index: int) -> None:
            project = mutated(bench.evals, report.seed, index)
            async with turns:
                neighbourhood.expect(project.files)
                ev = project.base.ev
                ev = replace(ev, config=ev.config.model_copy(update={"timeouts": TIMEOUTS}))
                start = time.monotonic()
                verdict = await service.grade(ev, project.files)
                _note(bench, report, project, verdict, time.monotonic() - start)

        await asyncio.gather(*(one(index) for index in indexes))
        kept = await neighbourhood.after(service, fresh=True, everything=False) + await neighbourhood.after(
            service, fresh=False, everything=False
        )
    report.neighbours += len(kept.graded)
    report.findings += [Finding(tuple(indexes), problem, "neighbour") for problem in kept.problems]


def _note(bench: Bench, report: Report, project: Mutated, verdict: Verdict, seconds: float) -> None:
    text = verdict_text(verdict)
    problems = [problem] if (problem := project.problem(verdict)) else []
    problems += bench.leaks(text)
    if found := _OURS.search(text):
        problems.append(f"says {text[max(0, found.start() - 100) : found.end() + 200]!r}")
    report.outcomes[verdict.outcome.value] = report.outcomes.get(verdict.outcome.value, 0) + 1
    report.slowest = max(report.slowest, (round(seconds, 1), project.index))
    if "(twice, while a canary" in text:
        report.blamed.append(project.index)
    report.findings += [Finding((project.index,), p, f"{project.name}\n{text[:600]}") for p in problems]


@asynccontextmanager
async def _watched_loop(report: Report) -> AsyncIterator[None]:
    async def watch() -> None:
        while True:
            start = time.monotonic()
            await asyncio.sleep(0.1)
            report.longest_lag = max(report.longest_lag, time.monotonic() - start - 0.1)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()


def _memory_mib() -> float:
    """The most that this process ever had resident."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
