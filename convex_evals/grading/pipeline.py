"""One project through the six steps: filesystem, install, deploy, tsc, eslint, tests."""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from convex_evals.errors import InfrastructureError, ProcessFault, UserError
from convex_evals.grading.answers import answer_on_demand
from convex_evals.grading.backends import Backend, Endpoints
from convex_evals.grading.backends.push import DeployError, push
from convex_evals.grading.checker import Checker, CheckerError
from convex_evals.grading.packages import PackageError, PackageStore, link_packages
from convex_evals.grading.prepared import PROJECT_FACTS, Prepared, SeenByChecker, write_facts
from convex_evals.grading.sandbox.base import Network
from convex_evals.grading.scratch import write_files
from convex_evals.grading.tester import GradedProject, Ports, Tester, TestReport
from convex_evals.grading.verdict import StepFailed, build_verdict, skipped, summarize
from convex_evals.records import Pipeline, StepName, StepOutcome, StepResult, Verdict
from convex_evals.records.hashes import sha256_files
from convex_evals.store.files import write_error
from convex_evals.suite.extract import files_problem
from convex_evals.suite.suite import Eval, read_generated

# What no project can be blamed for, and no other trial would survive.
_MACHINE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EMFILE, errno.ENFILE})


@dataclass(frozen=True)
class Tools:
    """What a worker grades with."""

    checker: Checker
    suite_checker: Checker  # for what belongs to the suite: it sees no project
    packages: PackageStore
    backend: Backend
    tester: Tester
    prepared: Prepared


@dataclass
class Grading:
    """One grading of one project, in a folder of its own that the caller removes."""

    ev: Eval
    files: Mapping[str, str]
    tools: Tools
    folder: Path
    steps: list[StepResult] = field(default_factory=list)
    report: TestReport | None = None
    fault: InfrastructureError | None = None
    endpoints: Endpoints | None = None
    network: Network | None = None
    packages: Path | None = None
    generated_sha256: str = ""
    facts: Path | None = None  # what the deployment said of itself before anything of it was called
    repaired: Mapping[str, str] = field(default_factory=dict)  # tsconfig files that were checked other than as written

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def sources(self) -> Path:
        return self.folder / "sources.json"

    async def run(self) -> Verdict:
        """All steps that this eval's pipeline has. Never raises for what a project does."""
        timeouts = self.ev.config.timeouts
        async with AsyncExitStack() as stack:
            await self._step(StepName.FILESYSTEM, self._filesystem)
            if self.ev.config.pipeline is Pipeline.FULL:
                await self._step(StepName.INSTALL, self._install)
                await self._step(StepName.DEPLOY, lambda: self._deploy(stack))
                await self._step(StepName.TSC, lambda: self._check("typecheck", "diagnostics", timeouts.tsc))
                await self._step(StepName.ESLINT, lambda: self._check("lint", "problems", timeouts.eslint))
            else:
                self.steps += [
                    skipped(s, "static eval") for s in StepName if s not in (StepName.FILESYSTEM, StepName.TESTS)
                ]
            await self._step(StepName.TESTS, self._tests)
        return build_verdict(self.steps, self.report)

    async def generate(self) -> tuple[dict[str, str], str | None]:
        """The files that Convex generates for the project, by path, or why it does not deploy."""
        async with AsyncExitStack() as stack:
            await self._step(StepName.FILESYSTEM, self._filesystem)
            await self._step(StepName.INSTALL, self._install)
            await self._step(StepName.DEPLOY, lambda: self._deploy(stack))
            failed = next((s for s in self.steps if s.outcome is not StepOutcome.PASSED), None)
            return (read_generated(self.project), None) if failed is None else ({}, failed.reason)

    def write_repaired(self) -> None:
        """Leave the tsconfig files that were checked for the grader to see; until here, the project's own count."""
        for path, text in self.repaired.items():
            target = self.project / path
            if (path == "tsconfig.json" or path in self.files) and not target.is_dir():
                target.write_text(text, encoding="utf-8", newline="\n")

    async def _step(self, name: StepName, work: Callable[[], Awaitable[str | None]]) -> None:
        blocker = _blocker(self.steps)
        if blocker:
            self.steps.append(skipped(name, f"{blocker} did not pass"))
            return
        start = time.monotonic()
        try:
            note = await work()
            outcome, reason = StepOutcome.PASSED, note
        except (StepFailed, PackageError, DeployError, CheckerError) as error:
            outcome, reason = StepOutcome.FAILED, str(error)
        except InfrastructureError as error:
            outcome, reason = StepOutcome.UNSCORED, str(error)
            self.fault = error
        except UserError:
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.errno in _MACHINE:
                raise write_error(self.folder, error) from error
            # A fault of ours, which an odd project may have brought about: the canary will tell.
            self.fault = ProcessFault(f"internal error: {type(error).__name__}: {error}")
            outcome, reason = StepOutcome.UNSCORED, str(self.fault)
        duration = round((time.monotonic() - start) * 1000)
        self.steps.append(StepResult(step=name, outcome=outcome, duration_ms=duration, reason=reason))

    async def _filesystem(self) -> None:
        problem = files_problem(self.files)
        if problem:
            raise StepFailed(problem)
        write_files(self.files, self.project)

    async def _install(self) -> None:
        if "package.json" not in self.files:
            raise StepFailed("package.json is missing")
        limit = self.ev.config.timeouts.install
        store = await self.tools.packages.install(self.files["package.json"], timeout=limit)
        link_packages(store, self.project)
        self.packages = store.parent

    async def _deploy(self, stack: AsyncExitStack) -> None:
        scratch = _create_folder(self.folder / "backend")
        limit = self.ev.config.timeouts.deploy
        bundle, response = self.folder / "push.json", self.folder / "pushed.json"
        await self.tools.checker.request(
            "bundle", project=self.project, out=bundle, sources=self.sources, timeout=limit
        )
        self.network = await stack.enter_async_context(self.tools.tester.sandbox.network())
        self.endpoints = await stack.enter_async_context(self.tools.backend.start(scratch, self.network))
        analysis = await push(self.endpoints, bundle, timeout=limit)
        response.write_text(json.dumps(analysis), encoding="utf-8")
        self.facts = self.folder / "facts.json"
        await write_facts(self.endpoints, PROJECT_FACTS, self.facts, limit, analysis)
        made = await self.tools.checker.request("codegen", project=self.project, response=response, timeout=limit)
        self.generated_sha256 = made["sha256"]

    async def _check(self, op: str, found: str, limit: float) -> str | None:
        assert self.packages is not None
        files = sha256_files(self.files)
        seen = SeenByChecker(self.project, self.sources, files, self.generated_sha256, self.packages)
        result = await self.tools.prepared.checked(op, seen, self.tools.checker, limit)
        repairs = "; ".join(result.get("repairs") or [])
        self.repaired = {**self.repaired, **result.get("repaired", {})}
        if not result["ok"]:
            raise StepFailed("\n".join([summarize(result[found]), *([f"({repairs})"] if repairs else [])]))
        return repairs or None

    async def _tests(self) -> None:
        self.write_repaired()
        scratch = _create_folder(self.folder / "tester")
        checker, prepared = self.tools.suite_checker, self.tools.prepared
        grader = await prepared.grader(self.ev, checker)
        project = GradedProject(self.project, self.packages)
        if self.endpoints is None or self.network is None:
            self.report = await self.tools.tester.run(self.ev, grader, project, scratch)
        else:
            bundle = await prepared.answer(self.ev, checker)
            facts = await prepared.answer_facts(self.ev, bundle, self.tools.backend)
            answer_scratch = _create_folder(self.folder / "answer-backend")
            async with answer_on_demand(self.ev, bundle, self.tools.backend, answer_scratch, self.network) as answer:
                ports = Ports(
                    self.endpoints.port, self.endpoints.site_port, answer.port, self.network, facts, self.facts
                )
                self.report = await self.tools.tester.run(self.ev, grader, project, scratch, ports)
            if answer.fault:
                raise answer.fault
        if not self.report.passed:
            raise StepFailed(self.report.reason)


def _blocker(steps: list[StepResult]) -> StepName | None:
    """tsc and eslint failing skip nothing; the rest of what comes before the tests does."""
    for step in steps:
        if step.outcome is StepOutcome.UNSCORED:
            return step.step
        if step.outcome is StepOutcome.FAILED and step.step not in (StepName.TSC, StepName.ESLINT):
            return step.step
    return None


def _create_folder(folder: Path) -> Path:
    folder.mkdir()
    return folder
