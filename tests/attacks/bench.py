"""Lets attacks loose at a level of containment, all in one grading service, and looks at what came of them."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from convex_evals.config import ProjectConfig
from convex_evals.grading.backends.embedded import EmbeddedBackend
from convex_evals.grading.packages import PackageStore
from convex_evals.grading.sandbox.base import Level, Sandbox
from convex_evals.grading.sandbox.levels import open_sandbox
from convex_evals.grading.sandbox.request import LaunchRequest
from convex_evals.grading.scratch import scratch_folder
from convex_evals.grading.service import GradingService, canary_eval, open_service, readable_paths
from convex_evals.grading.tester import Tester
from convex_evals.grading.toolchain import Toolchain, ensure_toolchain
from convex_evals.process import Child
from convex_evals.records import Outcome, StepName, StepOutcome, Verdict
from convex_evals.suite.suite import Eval, load_suite
from tests import patience
from tests.attacks.caches import caches_of
from tests.attacks.graders import PAGE
from tests.attacks.making import Attack, Files
from tests.attacks.neighbours import COMPONENT, Kept, Neighbourhood, neighbours_of
from tests.attacks.registry import evil_registry
from tests.attacks.world import ANSWER_MARK, SECRET_NAME, World, open_world
from tests.processes import processes_with

SUITE = Path(__file__).parent
_WORKERS = 2
_LEFT_SECONDS = patience.seconds(5)
_LONGEST_VERDICT = 200_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
Change = Callable[[LaunchRequest], LaunchRequest]


@dataclass(frozen=True)
class Size:
    """How much attacks try to take."""

    memory_mib: int
    disk_mib: int
    forks: int
    output_mib: int
    log_lines: int


NORMAL = Size(memory_mib=2_400, disk_mib=320, forks=1_000, output_mib=40, log_lines=100_000)
FULL = Size(memory_mib=10_000, disk_mib=10_000, forks=20_000, output_mib=1_000, log_lines=3_000_000)
TAME = Size(memory_mib=100, disk_mib=50, forks=20, output_mib=10, log_lines=10_000)


@dataclass(frozen=True)
class Result:
    """What came of one attack."""

    verdict: Verdict
    harm: tuple[str, ...]  # what it got at, did, or left behind; empty where it was stopped
    seconds: float
    neighbours: Kept | None = None  # beside it and after it; None where they were not asked for

    @property
    def text(self) -> str:
        return verdict_text(self.verdict)

    @property
    def problems(self) -> list[str]:
        """Why this is not how an attack should end."""
        found = list(self.harm)
        if self.verdict.outcome is not Outcome.FAILED:
            found.append(f"ended {self.verdict.outcome}: {self.text[:500]}")
        return [*found, *(self.neighbours.problems if self.neighbours else ())]


def verdict_text(verdict: Verdict) -> str:
    """All that a verdict says in words."""
    reasons = [step.reason or "" for step in verdict.steps]
    return "\n".join([*reasons, *(test.message or "" for test in verdict.tests)])


@dataclass
class Changed:
    """A launcher that may start something else than it was asked to, and knows which users it made up."""

    launcher: Any
    change: Change | None
    uids: set[int] = field(default_factory=set)

    async def launch(self, request: LaunchRequest, pass_fds: Sequence[int] = (), **more: Any) -> Child:
        words = request.argv
        reuid = [words[at + 1] for at, word in enumerate(words) if word == "--reuid"]
        self.uids |= {int(uid) for uid in (*reuid, request.uid) if uid is not None}
        started: Child = await self.launcher.launch(self.change(request) if self.change else request, pass_fds, **more)
        return started

    def __getattr__(self, name: str) -> Any:
        return getattr(self.launcher, name)


@dataclass
class Bench:
    """A grading service at some level, in a world to be attacked."""

    world: World
    service: GradingService
    evals: dict[str, Eval]
    constants: dict[str, object]
    launcher: Changed
    left: list[str] = field(default_factory=list)  # when all was over
    neighbourhood: Neighbourhood | None = None
    all_neighbours: bool = False  # after each attack; else some of them by turns
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_WORKERS))

    async def settle(self, attacks: Sequence[Attack]) -> None:
        """Grade neighbours before the first of `attacks`, so that what becomes of them can be seen."""
        self.neighbourhood = Neighbourhood(neighbours_of(self.evals), caches_of(self.service))
        await self.neighbourhood.settle(self.service, [self.evals[name] for name in {a.eval_id for a in attacks}])

    async def run(self, attack: Attack) -> Result:
        """Grade the hostile project, a neighbour beside it where it uses something up, and neighbours after it."""
        async with self._turns:
            if self.neighbourhood and (attack.fresh or self.all_neighbours):
                async with self.fresh_service(1) as service:
                    return await self._run(attack, service)
            return await self._run(attack, self.service)

    async def _run(self, attack: Attack, service: GradingService) -> Result:
        nonce = f"x{secrets.token_hex(6)}"
        files = attack.files({**self.constants, "nonce": nonce})
        start = time.monotonic()
        hostile = self._grade(attack, files, service)
        if attack.beside and self.neighbourhood:
            verdict, beside = await asyncio.gather(hostile, self.neighbourhood.beside(self.service))
        else:
            verdict, beside = await hostile, Kept()
        seconds = round(time.monotonic() - start, 2)
        harm = [*self.leaks(verdict_text(verdict)), *self.world.harm(nonce), *await _left(nonce)]
        if not attack.any_level and _tests_passed(verdict):
            harm.append("the grader was content")
        if self.neighbourhood is None:
            return Result(verdict, tuple(harm), seconds)
        after = await self.neighbourhood.after(service, attack.fresh, self.all_neighbours)
        return Result(verdict, tuple(harm), seconds, beside + after)

    async def _grade(self, attack: Attack, files: Files, service: GradingService) -> Verdict:
        if self.neighbourhood:
            self.neighbourhood.expect(files)
        ev = self.evals[attack.eval_id]
        ev = replace(ev, config=ev.config.model_copy(update={"timeouts": attack.timeouts}))
        return await service.grade(ev, files)

    @asynccontextmanager
    async def fresh_service(self, workers: int) -> AsyncIterator[GradingService]:
        """One whose checker has not started yet, on the same caches."""
        g = self.service
        async with open_service(g.toolchain, g.packages, g.backend, g.tester, g.folder, workers, SUITE) as fresh:
            yield fresh

    async def at_the_end(self) -> list[str]:
        """What is not as it was before the attacks, for any neighbour."""
        problems = await self.neighbourhood.at_the_end(self.service) if self.neighbourhood else []
        return [f"after all attacks: {problem}" for problem in problems]

    def leaks(self, text: str) -> Iterator[str]:
        """What of the world's secrets is in `text`, and what in it harms its readers."""
        for mark in (self.world.secret, ANSWER_MARK, "PWNED"):
            at = text.find(mark)
            if at >= 0:
                yield f"found out: {text[max(0, at - 120) : at + 80]}"
        if _CONTROL.search(text):
            yield "control characters in the verdict"
        if len(text) > _LONGEST_VERDICT:
            yield f"a verdict of {len(text)} characters"


def _tests_passed(verdict: Verdict) -> bool:
    return any(step.step is StepName.TESTS and step.outcome is StepOutcome.PASSED for step in verdict.steps)


async def _left(nonce: str) -> list[str]:
    """Processes that go by `nonce` and are still there after a while."""
    return await _gone_soon(lambda: [f"process {pid} is left" for pid in processes_with(nonce)])


async def _gone_soon(look: Callable[[], list[str]]) -> list[str]:
    end = time.monotonic() + _LEFT_SECONDS
    for _ in range(int(_LEFT_SECONDS / 0.1)):
        if not (found := look()) or time.monotonic() > end:
            break
        await asyncio.sleep(0.1)
    return found


def _left_after_all(folder: Path, uids: set[int]) -> list[str]:
    """What is left of all trials below `folder`."""
    left = [f"process {pid} is left" for pid in processes_with(str(folder))]
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and entry.stat().st_uid in uids:
                left.append(f"process {entry.name} of a sandbox's user is left")
        except OSError:
            continue
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(folder) in line]
    memory = [line for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:] if int(line.split()[7]) in uids]
    return [*left, *(f"mount: {line}" for line in mounts), *(f"shared memory: {line}" for line in memory)]


@asynccontextmanager
async def open_bench(
    level: Level, folder: Path, cache: Path, size: Size, change: Change | None = None
) -> AsyncIterator[Bench]:
    """Everything to attack at `level`, in the new `folder`; `change` weakens what is started."""
    toolchain = await ensure_toolchain(cache, lambda *_: None)
    store = await _own_store(toolchain, cache, folder / "packages")
    packages = await store.install(canary_eval().answer().files["package.json"])
    async with AsyncExitStack() as stack:
        world = stack.enter_context(open_world(folder))
        registry = stack.enter_context(evil_registry(world.outside))
        stack.enter_context(_environment({SECRET_NAME: world.secret, "npm_config_registry": registry}))
        trials = stack.enter_context(scratch_folder())
        _plant(trials, world)
        service, launcher, other = await _open_command(stack, level, toolchain, store, trials, change)
        constants: dict[str, object] = {
            **world.constants(),
            **other,
            "trials": str(trials),
            "suite": str(SUITE),
            "cache": str(cache),
            "toolchain": str(toolchain.node_modules),
            "store": str(packages),
            "memoryMib": size.memory_mib,
            "diskMib": size.disk_mib,
            "forks": size.forks,
            "outputMib": size.output_mib,
            "logLines": size.log_lines,
        }
        bench = Bench(world, service, {ev.id: ev for ev in load_suite(SUITE).evals}, constants, launcher)
        yield bench
    bench.left += await _gone_soon(lambda: _left_after_all(trials, launcher.uids))
    bench.left += [f"{path} is there" for path in trials.rglob("*")]
    if bench.neighbourhood:
        bench.left += await _in_the_next_command(bench.neighbourhood, level, toolchain, store)


async def _open_command(
    stack: AsyncExitStack,
    level: Level,
    toolchain: Toolchain,
    store: PackageStore,
    trials: Path,
    change: Change | None,
) -> tuple[GradingService, Changed, dict[str, object]]:
    """A grading service as a command has it, what starts its processes, and a backend of another trial."""
    sandbox = await stack.enter_async_context(open_sandbox(level, toolchain, trials, readable_paths(store, SUITE, [])))
    other = await _other_backend(stack, EmbeddedBackend(toolchain, sandbox), sandbox, trials)
    launcher = Changed(cast(Any, sandbox).launcher, change)
    sandbox = cast(Sandbox, replace(cast(Any, sandbox), launcher=launcher))
    tester = Tester(toolchain, sandbox, [])
    embedded = EmbeddedBackend(toolchain, sandbox)
    service = await stack.enter_async_context(open_service(toolchain, store, embedded, tester, trials, _WORKERS, SUITE))
    return service, launcher, other


async def _in_the_next_command(
    neighbourhood: Neighbourhood, level: Level, toolchain: Toolchain, store: PackageStore
) -> list[str]:
    """What is not as before for neighbours that another command grades, with what this one left in its caches."""
    async with AsyncExitStack() as stack:
        trials = stack.enter_context(scratch_folder())
        (trials / "trial-other").mkdir()
        service, _, _ = await _open_command(stack, level, toolchain, store, trials, None)
        return [f"in the next command: {problem}" for problem in await neighbourhood.at_the_end(service)]


async def _own_store(toolchain: Toolchain, cache: Path, folder: Path) -> PackageStore:
    """A store with what benign projects need, where hostile ones leave nothing for anybody else."""
    before = ProjectConfig().packages_before
    shared = PackageStore(cache / "packages", toolchain.node, before)
    folder.mkdir()
    evals = {ev.id: ev for ev in load_suite(SUITE).evals}
    for answer in (canary_eval().answer(), evals[COMPONENT].answer(), evals[PAGE].answer()):
        installed = (await shared.install(answer.files["package.json"])).parent
        shutil.copytree(installed, folder / installed.name, symlinks=True)
    return PackageStore(folder, toolchain.node, before)


def _plant(trials: Path, world: World) -> None:
    project = trials / "trial-other" / "project"
    project.mkdir(parents=True)
    (project / "notes.txt").write_text(f"{world.secret}\n")
    for folder in (trials, project.parent, project):
        folder.chmod(0o755)
    project.chmod(0o777)


async def _other_backend(
    stack: AsyncExitStack, backend: EmbeddedBackend, sandbox: Sandbox, trials: Path
) -> dict[str, object]:
    network = await stack.enter_async_context(sandbox.network())
    scratch = Path(tempfile.mkdtemp(dir=trials / "trial-other"))
    endpoints = await stack.enter_async_context(backend.start(scratch, network))
    endpoints.control.chmod(0o777)
    return {"otherPort": endpoints.port, "otherControl": str(endpoints.control)}


@contextmanager
def _environment(more: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_attacks(
    level: Level,
    attacks: Sequence[Attack],
    folder: Path,
    cache: Path,
    size: Size,
    all_neighbours: bool = False,
) -> tuple[dict[str, Result], list[str]]:
    """What came of each attack, by name, and what was left of all of them."""

    async def run() -> tuple[dict[str, Result], list[str]]:
        async with open_bench(level, folder, cache, size) as bench:
            bench.all_neighbours = all_neighbours
            await bench.settle(attacks)
            results = await asyncio.gather(*(bench.run(attack) for attack in attacks))
            bench.left += await bench.at_the_end()
        return {attack.name: result for attack, result in zip(attacks, results, strict=True)}, bench.left

    return asyncio.run(run())
