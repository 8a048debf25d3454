"""What a verdict costs: the official tools, a new process for each step, against our way, alternating in one run.

    python bench/pipeline.py [--filter REGEX] [--others N | --all] [--workers 1 2] [--json]
    python bench/pipeline.py --scaling 1 2 4 [--filter REGEX]
    python bench/pipeline.py --workers 2 --chart bars.svg      (needs the extra `plots`)

Grades the answer of every eval and N of its wrong and accepted projects both ways, ours at the best sandbox of the
machine, the official tools without one. Before the clock runs, toolchain and packages are installed; all else counts.
Fails where a verdict or a message differs. `--scaling` grades that many times the projects our way alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.cold_pipeline import ColdGrading, differences
from bench.machine import PeakMemory, cpu_seconds
from convex_evals.config import ProjectConfig
from convex_evals.grading.packages import PackageError
from convex_evals.grading.sandbox.base import Level
from convex_evals.grading.sandbox.choice import Containment
from convex_evals.grading.service import GradingService
from convex_evals.grading.setup import ready_service
from convex_evals.records import StepName, Verdict
from convex_evals.suite.suite import Eval, load_suite
from scripts.command import start

ROOT = Path(__file__).parents[1]
_INSTALL_SECONDS = 600


@dataclass(frozen=True)
class Case:
    """A project to grade."""

    ev: Eval
    label: str
    files: dict[str, str]

    @property
    def name(self) -> str:
        return f"{self.ev.id} {self.label}"


@dataclass
class Measured:
    """One way over all cases. Seconds; `steps` by name, summed over cases."""

    seconds: float = 0
    cpu_seconds: float = 0
    peak_mib: float = 0
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @property
    def per_eval(self) -> float:
        return self.seconds / len(self.verdicts)

    @property
    def steps(self) -> dict[str, float]:
        sums = dict.fromkeys((step.value for step in StepName), 0.0)
        for verdict in self.verdicts.values():
            for step in verdict.steps:
                sums[step.step.value] += step.duration_ms / 1000
        return sums

    @property
    def graders_own(self) -> float:
        """What the graders' tests took, waiting and calling: part of the step `tests`."""
        return sum(test.duration_ms for verdict in self.verdicts.values() for test in verdict.tests) / 1000

    def without_graders(self, workers: int) -> float:
        """Wall clock of one project but for its grader's own tests, `workers` at a time."""
        return (self.seconds - self.graders_own / workers) / len(self.verdicts)


def cases_of(evals: Sequence[Eval], others: int | None) -> list[Case]:
    """Answers, and of the wrong and accepted projects of each eval the first `others`, of both kinds in turn."""
    found = []
    for ev in evals:
        wrong, accept = ev.wrong(), ev.accept()
        mixed = [p for pair in zip(wrong, accept, strict=False) for p in pair]
        mixed += [p for p in (*wrong, *accept) if p not in mixed]
        for project in (ev.answer(), *mixed[:others]):
            found.append(Case(ev, project.label, dict(project.files)))
    return found


Grade = Callable[[Case], Awaitable[Verdict]]


async def measure(cases: Sequence[Case], workers: int, grade: Grade, on: Measured, show: str) -> None:
    """Grade all cases, `workers` at a time, and add what it took to `on`."""
    places = asyncio.Semaphore(workers)
    cpu, start = cpu_seconds(), time.perf_counter()

    async def one(case: Case) -> None:
        async with places:
            on.verdicts[case.name] = await grade(case)
        if sys.stderr.isatty():
            print(f"\r{show}: {len(on.verdicts)} ", end="", file=sys.stderr, flush=True)

    with PeakMemory() as peak:
        await asyncio.gather(*(one(case) for case in cases))
    on.seconds += time.perf_counter() - start
    on.cpu_seconds += cpu_seconds() - cpu
    on.peak_mib = max(on.peak_mib, peak.mib)


async def ours(cases: Sequence[Case], workers: int, on: Measured) -> None:
    async with opened(workers, Containment()) as service:
        await measure(cases, workers, lambda case: service.grade(case.ev, case.files), on, "ours")


async def cold(cases: Sequence[Case], workers: int, on: Measured) -> None:
    async with opened(workers, Containment(Level.NONE)) as service:
        await measure(cases, workers, lambda case: grade_cold(service, case.ev, case.files), on, "cold")


def opened(workers: int, containment: Containment) -> AbstractAsyncContextManager[GradingService]:
    """A grading service for this repository's suite that says nothing while it gets ready."""
    return ready_service(ROOT, ProjectConfig(), workers, lambda *_: None, lambda _: None, containment)


async def grade_cold(service: GradingService, ev: Eval, files: Mapping[str, str]) -> Verdict:
    """The verdict of the official tools. The service lends packages, backend and folder."""
    async with service.worker() as (tools, folder):
        return await ColdGrading(ev, files, tools, folder).run()


async def install(cases: Sequence[Case]) -> None:
    """Toolchain and packages, before the clock runs."""
    async with opened(1, Containment()) as service:
        for manifest in sorted({case.files.get("package.json", "") for case in cases}):
            with suppress(PackageError):  # which both ways will say
                await service.packages.install(manifest, timeout=_INSTALL_SECONDS)


async def compare(cases: Sequence[Case], workers: int) -> tuple[Measured, Measured]:
    """Both ways; the cases in halves, so that both meet the machine at the same times."""
    await install(cases)
    half = len(cases) // 2
    first, second = cases[:half], cases[half:]
    cold_way, our_way = Measured(), Measured()
    if first:
        await cold(first, workers, cold_way)
        await ours(first, workers, our_way)
    await ours(second, workers, our_way)
    await cold(second, workers, cold_way)
    return cold_way, our_way


def refuse_differences(cold_way: Measured, our_way: Measured) -> None:
    lines = [
        f"{name}: {difference}"
        for name, verdict in our_way.verdicts.items()
        for difference in differences(verdict, cold_way.verdicts[name])
    ]
    if lines:
        sys.exit("\n".join(["the two ways do not agree, so no figure is given:", *lines]))


def report(cold_way: Measured, our_way: Measured, workers: int) -> str:
    lines = [f"{len(our_way.verdicts)} projects, {workers} at a time; seconds per project"]
    lines.append(f"{'':14} {'cold':>8} {'ours':>8} {'ratio':>7}")
    number = len(our_way.verdicts)

    def row(name: str, before: float, after: float) -> None:
        lines.append(f"{name:14} {before:8.3f} {after:8.3f} {before / after if after else 0:6.1f}x")

    for step, seconds in cold_way.steps.items():
        row(step, seconds / number, our_way.steps[step] / number)
    row("of it graders", cold_way.graders_own / number, our_way.graders_own / number)
    row("wall", cold_way.per_eval, our_way.per_eval)
    row("no graders", cold_way.without_graders(workers), our_way.without_graders(workers))
    row("CPU", cold_way.cpu_seconds / number, our_way.cpu_seconds / number)
    lines.append(f"{'peak MiB':14} {cold_way.peak_mib:8.0f} {our_way.peak_mib:8.0f}")
    return "\n".join(lines)


def as_json(cold_way: Measured, our_way: Measured, workers: int) -> dict[str, object]:
    return {
        "workers": workers,
        "projects": len(our_way.verdicts),
        "cold_s_per_eval": cold_way.per_eval,
        "ours_s_per_eval": our_way.per_eval,
        "ratio": cold_way.per_eval / our_way.per_eval,
        "cold_graders_own_s": cold_way.graders_own,
        "ours_graders_own_s": our_way.graders_own,
        "cold_s_per_eval_without_graders": cold_way.without_graders(workers),
        "ours_s_per_eval_without_graders": our_way.without_graders(workers),
        "ratio_without_graders": cold_way.without_graders(workers) / our_way.without_graders(workers),
        "cold_cpu_s": cold_way.cpu_seconds,
        "ours_cpu_s": our_way.cpu_seconds,
        "peak_mib": our_way.peak_mib,
        "cold_peak_mib": cold_way.peak_mib,
        "cold_steps_s": cold_way.steps,
        "ours_steps_s": our_way.steps,
    }


def draw(cold_way: Measured, our_way: Measured, out: Path) -> None:
    """Both ways as bars of their steps; the tests in two parts, the graders' own apart."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "convex-evals"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 2.2))
    number = len(our_way.verdicts)
    at = [0.0, 0.0]
    ways = (our_way, cold_way)
    shown = ["deploy", "tsc", "eslint", "tests"]
    parts = {step: [way.steps[step] / number for way in ways] for step in shown}
    parts["tests"] = [(way.steps["tests"] - way.graders_own) / number for way in ways]
    parts["graders' own calls"] = [way.graders_own / number for way in ways]
    for step, seconds in parts.items():
        axes.barh(["here", "official tools"], seconds, left=at, label=step)
        at = [left + more for left, more in zip(at, seconds, strict=True)]
    axes.set_xlabel("seconds per project")
    axes.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.45, 1.0), frameon=False)
    figure.tight_layout()
    figure.savefig(out, format="svg", metadata={"Date": None})


def again(cases: Sequence[Case], times: int) -> list[Case]:
    """The cases several times over; a comment makes each project a new one."""
    found = []
    for number in range(times):
        for case in cases:
            path = next(path for path in sorted(case.files) if path.endswith(".ts"))
            files = {**case.files, path: f"{case.files[path]}\n// {number}\n"} if number else case.files
            found.append(Case(case.ev, f"{case.label} {number}", files))
    return found


async def scaling(cases: Sequence[Case], workers: int, sizes: Sequence[int]) -> list[tuple[int, Measured]]:
    await install(cases)
    found = []
    for size in sizes:
        measured = Measured()
        await ours(again(cases, size), workers, measured)
        found.append((size, measured))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--filter", action="append", default=[], help="only evals whose id matches")
    parser.add_argument("--others", type=int, default=1, help="wrong and accepted projects of each eval")
    parser.add_argument("--all", action="store_true", help="all wrong and accepted projects")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--scaling", type=int, nargs="+", help="how many times the projects, our way alone")
    parser.add_argument("--chart", type=Path, help="where to draw seconds by step, of the last number of workers")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    evals = load_suite(ROOT).select(options.filter)
    cases = cases_of(evals, None if options.all else options.others)
    if options.scaling:
        workers = max(options.workers)
        found = asyncio.run(scaling(cases, workers, options.scaling))
        sizes = [
            {
                "times": n,
                "projects": len(m.verdicts),
                "s_per_eval": m.per_eval,
                "s_per_eval_without_graders": m.without_graders(workers),
                "cpu_s_per_eval": m.cpu_seconds / len(m.verdicts),
                "peak_mib": m.peak_mib,
            }
            for n, m in found
        ]
        print(json.dumps(sizes) if options.as_json else "\n".join(map(str, sizes)))
        return
    rows = []
    for workers in options.workers:
        cold_way, our_way = asyncio.run(compare(cases, workers))
        refuse_differences(cold_way, our_way)
        rows.append(as_json(cold_way, our_way, workers))
        if options.chart and workers == options.workers[-1]:
            draw(cold_way, our_way, options.chart)
        if not options.as_json:
            print(report(cold_way, our_way, workers), flush=True)
    if options.as_json:
        print(json.dumps(rows))


if __name__ == "__main__":
    start(main)
