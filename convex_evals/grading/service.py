"""Grades projects, several at a time; where a process fails, a canary tells whether the project is at fault."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.errors import InstallFault, ProcessFault
from convex_evals.grading.backends import Backend
from convex_evals.grading.checker import Checker
from convex_evals.grading.gate import Gate
from convex_evals.grading.npm import remove_tree
from convex_evals.grading.packages import PackageStore
from convex_evals.grading.pipeline import Grading, Tools
from convex_evals.grading.prepared import Prepared
from convex_evals.grading.sandbox.processors import running_on, shares
from convex_evals.grading.tester import Tester
from convex_evals.grading.toolchain import Toolchain
from convex_evals.grading.verdict import blame
from convex_evals.records import Outcome, Verdict
from convex_evals.records.hashes import sha256_parts
from convex_evals.suite.suite import Eval, grader_files, load_suite

CANARY_SUITE = Path(__file__).parent / "canary"
# Less than a third of a grading is the checker's, and what it learns of libraries takes it seconds.
_WORKERS_OF_A_CHECKER = 2
_INSTALLS_BESIDE_A_CANARY = 2


def canary_eval() -> Eval:
    """A project that passes wherever the toolchain works."""
    return load_suite(CANARY_SUITE).evals[0]


@dataclass(frozen=True)
class Worker:
    """What one of several gradings at a time works with."""

    checker: Checker  # shared with another worker
    processors: tuple[int, ...]  # that its processes run on; none: any


@dataclass
class GradingService:
    """Everything that grading one suite needs, ready."""

    toolchain: Toolchain
    packages: PackageStore
    backend: Backend
    tester: Tester
    folder: Path
    suite_checker: Checker
    workers: asyncio.Queue[Worker]
    prepared: Prepared
    gate: Gate
    fresh: Callable[[], AbstractAsyncContextManager[Tools]]  # tools that no project was near

    async def grade(self, ev: Eval, files: Mapping[str, str]) -> Verdict:
        """The verdict on `files` as an answer to `ev`.

        Where a process of ours failed, the project is graded again, alone and by fresh processes: if one fails again,
        and a canary passes, it is the project's doing. Where its packages cannot be installed, a canary's are installed
        beside them.
        """
        async with self.gate.together():
            first, fault = await self._grade_once(ev, files)
        if first.outcome is not Outcome.UNSCORED or not isinstance(fault, ProcessFault):
            return first
        if isinstance(fault, InstallFault):
            return await self._install_again(ev, files)
        async with self.gate.alone():
            second, fault = await self._grade_once(ev, files, fresh=True)
            second = second.model_copy(update={"gradings": 2})
            if not _at_fault(second, fault, ProcessFault):
                return second
            canary = None if isinstance(fault, InstallFault) else (await self.canary())[0]
        if canary is None:
            return await self._install_again(ev, files)
        return blame(second) if canary.outcome is Outcome.PASSED else second

    async def _install_again(self, ev: Eval, files: Mapping[str, str]) -> Verdict:
        """The verdict on a project whose packages could not be installed.

        Its own and a canary's are installed at the same time, twice: a registry may come back between the two.
        """
        for _ in range(_INSTALLS_BESIDE_A_CANARY):
            async with self.gate.together():
                (again, fault), works = await asyncio.gather(
                    self._grade_once(ev, files, fresh=True), self._canary_installs(ev)
                )
            again = again.model_copy(update={"gradings": 2})
            if not works or not _at_fault(again, fault, InstallFault):
                return again
        return blame(again)

    async def _canary_installs(self, ev: Eval) -> bool:
        manifest = canary_eval().answer().files["package.json"]
        return await self.packages.can_install(manifest, timeout=ev.config.timeouts.install)

    async def canary(self) -> tuple[Verdict, Exception | None]:
        """Grade the canary by fresh processes, without waiting for a turn."""
        ev = canary_eval()
        return await self._grade_once(ev, ev.answer().files, fresh=True)

    async def generated_code(self, ev: Eval) -> tuple[dict[str, str], str | None]:
        """What Convex generates for the answer of `ev`, by path below `answer/`, or why there is nothing."""
        async with self.gate.together(), self.worker() as (tools, folder):
            grading = Grading(ev, ev.answer().files, tools, folder)
            return await grading.generate()

    async def _grade_once(
        self, ev: Eval, files: Mapping[str, str], *, fresh: bool = False
    ) -> tuple[Verdict, Exception | None]:
        async with self.worker() as (tools, folder), self.fresh() if fresh else nullcontext(tools) as wanted:
            grading = Grading(ev, files, wanted, folder)
            return await grading.run(), grading.fault

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[tuple[Tools, Path]]:
        """The next worker that is free, and a folder for one trial."""
        worker = await self.workers.get()
        folder = Path(tempfile.mkdtemp(prefix="trial-", dir=self.folder))
        try:
            with running_on(worker.processors):
                yield (
                    Tools(worker.checker, self.suite_checker, self.packages, self.backend, self.tester, self.prepared),
                    folder,
                )
        finally:
            self.workers.put_nowait(worker)
            await asyncio.to_thread(remove_tree, folder)


def _at_fault(verdict: Verdict, fault: Exception | None, kind: type[Exception]) -> bool:
    return verdict.outcome is Outcome.UNSCORED and isinstance(fault, kind)


def readable_paths(packages: PackageStore, suite: Path, suite_packages: Sequence[Path]) -> list[Path]:
    """What processes that grade `suite` may read, besides the system, the toolchain, and the folder they work in."""
    return [packages.root, CANARY_SUITE, *grader_files(suite), *suite_packages]


@asynccontextmanager
async def open_service(
    toolchain: Toolchain,
    packages: PackageStore,
    backend: Backend,
    tester: Tester,
    folder: Path,
    workers: int,
    suite: Path,
    *,
    strict_types: bool = True,
) -> AsyncIterator[GradingService]:
    """A grading service for `suite` with so many `workers`, in `folder`; all its processes end with the context."""
    packages.root.mkdir(parents=True, exist_ok=True)
    readable = readable_paths(packages, suite, tester.suite_packages)
    types = [*([suite] if (suite / "node_modules").is_dir() else []), *tester.suite_packages]
    version = sha256_parts([toolchain.version, backend.identity.kind, backend.identity.version])

    def prepared() -> Prepared:
        made = Path(tempfile.mkdtemp(prefix="prepared-", dir=folder))
        return Prepared(made, version, packages, tester.suite_packages, strict_types, types)

    def new_checker(processors: tuple[int, ...] = ()) -> Checker:
        scratch = Path(tempfile.mkdtemp(prefix="checker-", dir=folder))
        return Checker(toolchain, tester.sandbox, scratch, folder, readable, processors)

    @asynccontextmanager
    async def fresh() -> AsyncIterator[Tools]:
        async with new_checker() as for_project, new_checker() as for_suite:
            yield Tools(for_project, for_suite, packages, backend, tester, prepared())

    async with AsyncExitStack() as stack:
        queue = await _start_workers(stack, workers, new_checker)
        for_suite = await stack.enter_async_context(new_checker())
        yield GradingService(
            toolchain, packages, backend, tester, folder, for_suite, queue, prepared(), Gate(workers), fresh
        )


async def _start_workers(
    stack: AsyncExitStack, count: int, new_checker: Callable[[tuple[int, ...]], Checker]
) -> asyncio.Queue[Worker]:
    """So many workers, a checker for each few of them; `stack` ends the checkers."""
    queue: asyncio.Queue[Worker] = asyncio.Queue()
    places = shares(count)
    for first in range(0, count, _WORKERS_OF_A_CHECKER):
        group = places[first : first + _WORKERS_OF_A_CHECKER]
        checker = new_checker(tuple(sorted({p for processors in group for p in processors})))
        await stack.enter_async_context(checker)
        for processors in group:
            queue.put_nowait(Worker(checker, processors))
    return queue


@dataclass(frozen=True)
class GraderCheck:
    """What the import closure of one grader file is, or why there is none."""

    inputs: tuple[str, ...]  # relative to the suite, sorted, the grader itself included
    errors: tuple[str, ...]


async def check_graders(service: GradingService, evals: Sequence[Eval]) -> dict[str, GraderCheck]:
    """Parse the graders of `evals`, a result per eval id."""
    files = [e.grader for e in evals]
    result = await service.suite_checker.request("graders", suite=evals[0].root, files=files, timeout=60)
    return {
        e.id: GraderCheck(
            tuple(found["inputs"]),
            tuple(_where(e.grader, x) + x["message"] for x in found["errors"]),
        )
        for e, found in zip(evals, result, strict=True)
    }


def _where(grader: Path, error: dict[str, Any]) -> str:
    return f"{error['file']}:{error['line']}:{error['column']}: " if error["file"] else f"{grader}: "
