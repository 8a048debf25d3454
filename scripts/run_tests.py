"""Run tests in parallel, and those that failed once more, alone: what passes then is flaky."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from scripts.streaming import run_streaming
from tests import patience, results
from tests.results import Report

# More flaky tests than these are a fault of their own.
MOST_FLAKY = 2
# Where more have failed, the change is at fault, and each would take its time.
_MOST_RERUN = 10
_TESTS_FAILED = 1  # pytest's exit code where tests failed, and nothing else went wrong
_RERUN_SECONDS = 900.0
_PARALLEL = ["-rs", "-n2", "--dist=loadgroup", "--no-loadscope-reorder"]


@dataclass
class TestRun:
    """What became of the tests; they are named by pytest's node ids."""

    __test__ = False  # pytest takes the name for that of a test

    failed: dict[str, str] = field(default_factory=dict)  # what pytest reported of each
    flaky: dict[str, str] = field(default_factory=dict)  # both outputs of each
    skipped: list[str] = field(default_factory=list)  # pytest's lines
    passed: list[str] = field(default_factory=list)  # the first time
    seconds: dict[str, float] = field(default_factory=dict)  # by group, on one worker
    problem: str | None = None  # what went wrong besides tests that failed

    @property
    def is_green(self) -> bool:
        return not self.failed and self.problem is None


def run_tests(options: list[str], cwd: Path, limit: float, tests: list[str] | None = None) -> TestRun:
    """Run `tests`, or all, in `cwd`, with pytest's `options`, and the failed ones again, each alone.

    After `limit` seconds (on an idle machine), pytest is ended, and the stacks of its processes are printed.
    """
    run = TestRun()
    status, lines, reports = _pytest([*_PARALLEL, *options, *(tests or [])], cwd, limit)
    run.skipped = [line for line in lines if line.startswith("SKIPPED")]
    for report in reports:
        run.seconds[report.group] = run.seconds.get(report.group, 0) + report.seconds
    failures = _failures(reports)
    calls = {report.test for report in reports if report.when == "call" and report.outcome == "passed"}
    run.passed = sorted(calls - {*failures})
    if status not in (0, _TESTS_FAILED) or bool(status) != bool(failures):
        run.problem = "it took too long, and was ended" if status is None else f"pytest ended with exit code {status}"
    elif len(failures) > _MOST_RERUN:
        run.problem = f"{len(failures)} tests failed; where they are more than {_MOST_RERUN}, none runs again"
    if run.problem:
        run.failed = failures
        return run
    for test, failure in failures.items():
        print(f"== once more, alone: {test}", flush=True)
        status, _, reports = _pytest(["-rP", *options, test], cwd, _RERUN_SECONDS)
        if status == 0:
            run.flaky[test] = f"--- failed:\n{failure}\n--- passed when it ran again, alone:\n{_output(reports)}"
        else:
            again = _failures(reports).get(test, f"pytest ended with exit code {status}")
            run.failed[test] = f"{failure}\n--- again, alone:\n{again}"
    if len(run.flaky) > MOST_FLAKY:
        run.problem = f"{len(run.flaky)} tests are flaky, which is more than {MOST_FLAKY}"
    return run


def _pytest(arguments: list[str], cwd: Path, limit: float) -> tuple[int | None, list[str], list[Report]]:
    """Run pytest: its exit code (None where it was ended at the limit), the lines it printed, reports of its tests."""
    with tempfile.TemporaryDirectory(prefix="tests-") as folder:
        path = Path(folder) / "results.jsonl"
        environment = {**os.environ, results.VARIABLE: str(path)}
        argv = [sys.executable, "-m", "pytest", *arguments]
        status, lines = run_streaming(argv, cwd, environment, patience.seconds(limit))
        return status, lines, results.read_reports(path)


def _failures(reports: list[Report]) -> dict[str, str]:
    """The text of each test's failures: its test, and what was captured until then."""
    found: dict[str, str] = {}
    for report in reports:
        if report.outcome == "failed":
            parts = [found.get(report.test, ""), f"({report.when}) {report.text}", _output([report])]
            found[report.test] = "\n".join(part for part in parts if part)
    return found


def _output(reports: list[Report]) -> str:
    """What was captured until the last of the reports; each has that of the ones before it, too."""
    return "\n".join(f"{title}:\n{text.rstrip()}" for title, text in (reports[-1].output if reports else []))
