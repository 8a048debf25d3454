"""Grades projects, several at a time, and asks a canary before it lets a fault of ours count as nobody's."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.errors import ProcessFault
from convex_evals.grade.backends import Backend
from convex_evals.grade.checker import Checker
from convex_evals.grade.gate import Gate
from convex_evals.grade.npm import remove_tree
from convex_evals.grade.packages import PackageStore
from convex_evals.grade.pipeline import Attempt, Tools
from convex_evals.grade.prepared import Prepared
from convex_evals.grade.sandbox.processors import running_on, shares
from convex_evals.grade.tester import Tester
from convex_evals.grade.toolchain import Toolchain
from convex_evals.grade.verdict import blame
from convex_evals.records import Outcome, Verdict
from convex_evals.suite import Eval, grader_files, load_suite, sha256_parts

CANARY_SUITE = Path(__file__).parent / "canary"
# Less than a third of a grading is the checker's, and what it learns of libraries takes it seconds.
_WORKERS_OF_A_CHECKER = 2


def canary_eval() -> Eval:
    """A project that passes wherever the toolchain works."""
    return load_suite(CANARY_SUITE).evals[0]


@dataclass(frozen=True)
class Worker:
    """What one of several gradings at a time works with."""

    checker: Checker  # shared with another worker
    processors: tuple[int, ...]  # that its processes run on; none: any


@dataclass
class Grader:
    """Everything that grading one suite needs, ready."""

    toolchain: Toolchain
    packages: PackageStore
    backend: Backend
    tester: Tester
    folder: Path
    workers: asyncio.Queue[Worker]
    prepared: Prepared
    gate: Gate

    async def grade(self, ev: Eval, files: Mapping[str, str]) -> Verdict:
        """The verdict on `files` as an answer to `ev`.

        Where a process of ours failed, the project is graded again, alone: if one fails again, and a canary passes,
        it is the project's doing.
        """
        async with self.gate.together():
            first, fault = await self._attempt(ev, files)
        if first.outcome is not Outcome.UNSCORED or not isinstance(fault, ProcessFault):
            return first
        async with self.gate.alone():
            second, fault = await self._attempt(ev, files)
            second = second.model_copy(update={"attempts": 2})
            if second.outcome is not Outcome.UNSCORED or not isinstance(fault, ProcessFault):
                return second
            canary, _ = await self.canary()
        return blame(second) if canary.outcome is Outcome.PASSED else second

    async def canary(self) -> tuple[Verdict, Exception | None]:
        """Grade the canary, without waiting for a turn."""
        ev = canary_eval()
        return await self._attempt(ev, ev.answer().files)

    async def generated_code(self, ev: Eval) -> tuple[dict[str, str], str | None]:
        """What Convex generates for the answer of `ev`, by path below `answer/`, or why there is nothing."""
        async with self.gate.together(), self.worker() as (tools, folder):
            attempt = Attempt(ev, ev.answer().files, tools, folder)
            return await attempt.generate()

    async def _attempt(self, ev: Eval, files: Mapping[str, str]) -> tuple[Verdict, Exception | None]:
        async with self.worker() as (tools, folder):
            attempt = Attempt(ev, files, tools, folder)
            return await attempt.run(), attempt.fault

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[tuple[Tools, Path]]:
        """The next worker that is free, and a folder for one trial."""
        worker = await self.workers.get()
        folder = Path(tempfile.mkdtemp(prefix="trial-", dir=self.folder))
        try:
            with running_on(worker.processors):
                yield Tools(worker.checker, self.packages, self.backend, self.tester, self.prepared), folder
        finally:
            self.workers.put_nowait(worker)
            await asyncio.to_thread(remove_tree, folder)


def readable_paths(packages: PackageStore, suite: Path, suite_packages: Sequence[Path]) -> list[Path]:
    """What processes that grade `suite` may read, besides the system, the toolchain, and the folder they work in."""
    return [packages.root, CANARY_SUITE, *grader_files(suite), *suite_packages]


@asynccontextmanager
async def open_grader(
    toolchain: Toolchain,
    packages: PackageStore,
    backend: Backend,
    tester: Tester,
    folder: Path,
    workers: int,
    suite: Path,
) -> AsyncIterator[Grader]:
    """A grader for `suite` with so many `workers`, in `folder`; all its processes end with the context."""
    packages.root.mkdir(parents=True, exist_ok=True)
    readable = readable_paths(packages, suite, tester.suite_packages)
    async with AsyncExitStack() as stack:
        queue: asyncio.Queue[Worker] = asyncio.Queue()
        places = shares(workers)
        for first in range(0, workers, _WORKERS_OF_A_CHECKER):
            pair = places[first : first + _WORKERS_OF_A_CHECKER]
            scratch = Path(tempfile.mkdtemp(prefix="checker-", dir=folder))
            either = tuple(sorted({p for processors in pair for p in processors}))
            checker = Checker(toolchain, tester.sandbox, scratch, folder, readable, either)
            await stack.enter_async_context(checker)
            for processors in pair:
                queue.put_nowait(Worker(checker, processors))
        made = Path(tempfile.mkdtemp(prefix="prepared-", dir=folder))
        version = sha256_parts([toolchain.version, backend.identity.kind, backend.identity.version])
        prepared = Prepared(made, version, packages, tester.suite_packages)
        yield Grader(toolchain, packages, backend, tester, folder, queue, prepared, Gate(workers))


@dataclass(frozen=True)
class GraderCheck:
    """What the import closure of one grader file is, or why there is none."""

    inputs: tuple[str, ...]  # relative to the suite, sorted, the grader itself included
    errors: tuple[str, ...]


async def check_graders(grader: Grader, evals: Sequence[Eval]) -> dict[str, GraderCheck]:
    """Parse the graders of `evals`, a result per eval id."""
    async with grader.worker() as (tools, _):
        root = evals[0].root
        files = [e.grader for e in evals]
        result = await tools.checker.request("graders", suite=root, files=files, timeout=60)
    return {
        e.id: GraderCheck(
            tuple(found["inputs"]),
            tuple(_where(e.grader, x) + x["message"] for x in found["errors"]),
        )
        for e, found in zip(evals, result, strict=True)
    }


def _where(grader: Path, error: dict[str, Any]) -> str:
    return f"{error['file']}:{error['line']}:{error['column']}: " if error["file"] else f"{grader}: "
