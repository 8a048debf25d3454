"""The tester: one grader, one process, one verdict through an inherited pipe."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.errors import ProcessFault
from convex_evals.grade.sandbox import Launch, Sandbox
from convex_evals.grade.toolchain import Toolchain
from convex_evals.process import read_fd
from convex_evals.records import TestResult
from convex_evals.suite import Eval

_VERDICT_LIMIT = 16 * 1024 * 1024


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
        failed = [f"{t.name}: {t.message or t.outcome}" for t in self._ran if t.outcome != "passed"]
        return "\n".join([*self.errors, *failed]) or "no test of the grader ran"

    @property
    def _ran(self) -> list[TestResult]:
        return [t for t in self.tests if t.outcome != "skipped"]


@dataclass(frozen=True)
class Ports:
    """Where a grader finds backends, on the loopback interface."""

    project: int
    project_site: int  # HTTP actions
    answer: int
    answer_facts: Path | None = None  # what the answer says of itself, asked before

    def environment(self) -> dict[str, str]:
        facts = {"CONVEX_ANSWER_FACTS": str(self.answer_facts)} if self.answer_facts else {}
        return {
            "CONVEX_PORT": str(self.project),
            "CONVEX_SITE_PORT": str(self.project_site),
            "CONVEX_ANSWER_PORT": str(self.answer),
            **facts,
        }


@dataclass(frozen=True)
class Tester:
    __test__ = False

    toolchain: Toolchain
    sandbox: Sandbox
    suite_packages: Sequence[Path]  # folders with a node_modules that graders' bare imports resolve from

    async def run(
        self,
        ev: Eval,
        compiled: Path | None,
        project: Path,
        scratch: Path,
        ports: Ports | None = None,
    ) -> TestReport:
        """Run the grader of `ev` against a project, deployed unless there are no `ports`.

        `compiled` is what `Prepared` made of the grader; without it, the whole of vitest runs it.

        Raises `ProcessFault` where no verdict comes back in time.
        """
        limit = ev.config.timeouts.tests
        facts = ports.answer_facts if ports else None
        read_end, write_end = os.pipe()
        token = secrets.token_hex(16)
        node = self.toolchain.node
        argv: list[str | Path] = [
            *(node.executable, self.toolchain.script("tester/main.bundle.mjs")),
            *("--grader", ev.grader, "--suite", ev.root),
            *(("--compiled", compiled) if compiled else ()),
            *(word for folder in self.suite_packages for word in ("--packages", folder)),
            *("--verdict-fd", str(write_end), "--test-timeout", str(int(limit * 500))),
        ]
        env = {**node.environment(scratch), "MODEL_OUTPUT_DIR": str(project), **(ports.environment() if ports else {})}
        try:
            child = await self.sandbox.launch(
                Launch(
                    argv,
                    scratch,
                    env,
                    readable=[ev.root, project, *self.suite_packages, *filter(None, [compiled, facts])],
                    writable=[scratch, project],
                    pass_fds=[write_end],
                )
            )
        except BaseException:
            os.close(read_end)
            raise
        finally:
            os.close(write_end)
        async with child:
            # On a command line every process of the same user could read it.
            child.stdin.write(f"{token}\n".encode())
            try:
                data = await asyncio.wait_for(read_fd(read_end, _VERDICT_LIMIT, line=True), limit)
            except TimeoutError:
                raise ProcessFault(f"the tests did not finish within {limit:.0f} s") from None
            return _parse(data, token, child.stderr.text())


def _parse(data: bytes, token: str, stderr: str) -> TestReport:
    try:
        verdict: dict[str, Any] = json.loads(data)
        if verdict["kind"] != "verdict" or verdict["token"] != token:
            raise ProcessFault("the tester's verdict is not of this trial")
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
    except (ValueError, KeyError, TypeError):
        tail = [line for line in stderr.splitlines() if line.strip()]
        raise ProcessFault(f"the tester ended without a verdict: {tail[-1] if tail else 'no message'}") from None


def _error_line(error: dict[str, Any]) -> str:
    where = f"{error['file']}:{error.get('line') or 1}: " if error.get("file") else ""
    return f"{where}{error['message']}"
