"""The tester: one grader, one process, one verdict through an inherited pipe."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from convex_evals.clock import step_timeout
from convex_evals.errors import ProcessFault
from convex_evals.grading.program_launch import ProgramEnvironment
from convex_evals.grading.programs import serve_programs
from convex_evals.grading.sandbox.base import Launch, Network, Sandbox
from convex_evals.grading.toolchain import Toolchain
from convex_evals.inputs.bounded_json import Limits, decode_object
from convex_evals.process import Child, read_fd
from convex_evals.records import TestResult
from convex_evals.records.grade import reason_of_tests
from convex_evals.suite.suite import Eval, grader_files, package_files

_VERDICT = Limits(4 * 1024 * 1024, values=50_000, depth=8)
# A program's bundle is all that its esbuild makes: memory is collected only where there is much.
_ESBUILD = {"GOGC": "off", "GOMEMLIMIT": "384MiB"}
# Under which vitest lets packages choose what they export, as node/tester/resolution.ts has them.
CONDITIONS = ("--conditions=node", "--conditions=development")


@dataclass(frozen=True)
class TestReport:
    """What the grader said."""

    __test__ = False

    tests: tuple[TestResult, ...]
    errors: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """At least one test ran, none failed, and nothing went wrong outside of tests. Skipped ones do not count."""
        return bool(self._ran) and not self.errors and all(t.outcome == "passed" for t in self._ran)

    @property
    def score(self) -> float:
        return sum(t.outcome == "passed" for t in self._ran) / len(self._ran) if self._ran else 0.0

    @property
    def reason(self) -> str:
        failed = reason_of_tests(self.tests)
        return "\n".join([*self.errors, *([failed] if failed else [])]) or "no test of the grader ran"

    @property
    def _ran(self) -> list[TestResult]:
        return [t for t in self.tests if t.outcome != "skipped"]


@dataclass(frozen=True)
class Ports:
    """Where a grader finds backends, on the loopback interface."""

    project: int
    project_site: int  # HTTP actions
    answer: int
    network: Network  # the trial's, with ports that are hidden from the project
    answer_facts: Path | None = None  # what the answer says of itself, asked before
    project_facts: Path | None = None  # and the project, when it was pushed

    def environment(self) -> dict[str, str]:
        files = {"CONVEX_ANSWER_FACTS": self.answer_facts, "CONVEX_PROJECT_FACTS": self.project_facts}
        facts = {name: str(file) for name, file in files.items() if file}
        doors = {self.project: self.network.project, self.project_site: self.network.project_site}
        return {
            "CONVEX_PORT": str(self.project),
            "CONVEX_SITE_PORT": str(self.project_site),
            "CONVEX_ANSWER_PORT": str(self.answer),
            # What connects to the one gets to the other (node/tester/doors.ts).
            "CONVEX_EVALS_DOORS": ",".join(f"{port}={door.number}" for port, door in doors.items()),
            **facts,
        }

    def connected(self) -> list[int]:
        """All ports that the tester connects to."""
        hidden = [self.network.project.number, self.network.project_site.number, self.answer]
        return [self.project, self.project_site, *hidden]


@dataclass(frozen=True)
class CompiledGrader:
    """A grader that runs without vite."""

    file: Path
    self_contained: bool  # it never looks at files of the suite


@dataclass(frozen=True)
class GradedProject:
    """A project on disk, and what it has installed."""

    folder: Path
    packages: Path | None = None  # the folder with the node_modules that its own link to


class _VitestNeeded(Exception):
    """The compiled grader cannot be run without vitest and the suite's files; nothing of it has run."""


@dataclass(frozen=True)
class Tester:
    __test__ = False

    toolchain: Toolchain
    sandbox: Sandbox
    suite_packages: Sequence[Path]  # folders with a node_modules that graders' bare imports resolve from

    async def run(
        self,
        ev: Eval,
        compiled: CompiledGrader | None,
        project: GradedProject,
        scratch: Path,
        ports: Ports | None = None,
    ) -> TestReport:
        """Run the grader of `ev` against a project, deployed unless there are no `ports`.

        `compiled` is what `Prepared` made of the grader; without it, the whole of vitest runs it.

        Raises `ProcessFault` where no verdict comes back in time.
        """
        grading = _Grading(self, ev, compiled, project, scratch, ports)
        try:
            return await grading.run()
        except _VitestNeeded:
            return await replace(grading, compiled=None).run()


@dataclass(frozen=True)
class _Grading:
    """One run of one grader."""

    tester: Tester
    ev: Eval
    compiled: CompiledGrader | None
    project: GradedProject
    scratch: Path
    ports: Ports | None

    async def run(self) -> TestReport:
        sandbox = self.tester.sandbox
        token = secrets.token_hex(16)
        async with AsyncExitStack() as programs:
            network = self.ports.network if self.ports else await programs.enter_async_context(sandbox.network())
            ends = await programs.enter_async_context(serve_programs(self._place(network)))
            read_end, child = await self._start(network, ends)
            return await self._verdict(read_end, child, token)

    async def _start(self, network: Network, ends: list[int]) -> tuple[int, Child]:
        """The tester's process, and the descriptor from which its verdict can be read."""
        read_end, write_end = os.pipe()
        try:
            with ExitStack() as stack:
                stack.callback(os.close, write_end)
                pass_fds = [write_end]
                if self.compiled:
                    pass_fds.append(stack.enter_context(self.compiled.file.open("rb")).fileno())
                return read_end, await self.tester.sandbox.launch(self._launch(network, [*pass_fds, *ends]))
        except BaseException:
            os.close(read_end)
            raise

    async def _verdict(self, read_end: int, child: Child, token: str) -> TestReport:
        limit = self.ev.config.timeouts.tests
        async with child:
            # On a command line every process of the same user could read it.
            child.stdin.write(f"{token}\n".encode())
            try:
                async with step_timeout(limit):
                    data = await read_fd(read_end, _VERDICT.size, line=True)
            except TimeoutError:
                raise ProcessFault(f"the tests did not finish within {limit:.0f} s") from None
            return _parse(data, token, child)

    def _place(self, network: Network) -> ProgramEnvironment:
        """Where the grader's programs run: with the project's packages, without anything of the suite."""
        packages = [self.project.packages] if self.project.packages else []
        asked = [self.ports.project, self.ports.project_site] if self.ports else []
        return ProgramEnvironment(self.tester.sandbox, self.project.folder, self.scratch, packages, network, asked)

    def _launch(self, network: Network, pass_fds: Sequence[int]) -> Launch:
        ports, packages = self.ports, self.tester.suite_packages
        env = {
            **self.tester.toolchain.node.environment(self.scratch),
            **_ESBUILD,
            "MODEL_OUTPUT_DIR": str(self.project.folder),
        }
        facts = [ports.answer_facts, ports.project_facts] if ports else []
        # A grader in one piece needs no more of the suite than its packages.
        needed = package_files if self.compiled and self.compiled.self_contained else grader_files
        return Launch(
            self._command(last=3 + len(pass_fds)),
            self.scratch,
            {**env, **(ports.environment() if ports else {})},
            readable=[*needed(self.ev.root), *packages, *filter(None, [self.project.packages, *facts])],
            writable=[self.scratch, self.project.folder],
            pass_fds=pass_fds,
            network=network,
            ports=ports.connected() if ports else [],
        )

    def _command(self, last: int) -> list[str | Path]:
        """What is executed; its descriptors end before `last`."""
        toolchain = self.tester.toolchain
        directly = (*CONDITIONS, toolchain.script("tester/direct.bundle.mjs"), "--compiled-fd", "4")
        in_vitest = (toolchain.script("tester/main.bundle.mjs"), "--grader", self.ev.grader)
        return [
            *(toolchain.sealed_node, "--disable-sigusr1", *(directly if self.compiled else in_vitest)),
            *("--suite", self.ev.root, "--verdict-fd", "3", "--programs-fds", f"{last - 2},{last - 1}"),
            *(word for folder in self.tester.suite_packages for word in ("--packages", folder)),
            *("--test-timeout", str(int(self.ev.config.timeouts.tests * 500))),
        ]


def _parse(data: bytes, token: str, child: Child) -> TestReport:
    try:
        verdict = decode_object(data, _VERDICT)
        if verdict["kind"] != "verdict" or verdict["token"] != token:
            raise ProcessFault("the tester's verdict is not of this trial")
        if verdict.get("vitest_needed"):
            raise _VitestNeeded
        return report_of(verdict)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise ProcessFault(
            f"the run ended before the grader did: the grader may have ended its own process ({child.last_words()})"
        ) from None


def report_of(verdict: Mapping[str, Any]) -> TestReport:
    """What is in a verdict (node/tester/verdict.ts). Raises `KeyError` or `TypeError` where it is none."""
    tests = tuple(
        TestResult(
            name=t["name"],
            outcome=t["outcome"],
            duration_ms=round(t["duration_ms"]),
            message=t.get("message"),
        )
        for t in verdict["tests"]
    )
    return TestReport(tests, tuple(_error_line(e) for e in verdict["errors"]))


def _error_line(error: dict[str, Any]) -> str:
    where = f"{error['file']}:{error.get('line') or 1}: " if error.get("file") else ""
    return f"{where}{error['message']}"
