"""All checks of this repository, in the order of their cost. The README's test command.

    python scripts/check.py                the fast tier of the tests, linters, and the layers of imports
    python scripts/check.py --full         all tests, types, and the generated documents
    python scripts/check.py --soak         all tests, the long ones in full size
    python scripts/check.py --changed      the tests that uncommitted changes can reach; --changed main: since main
    python scripts/check.py --last-failed  what failed or was flaky the last time, in its tier, and nothing else
    python scripts/check.py --full --rest  all but what has passed here already, at this commit
    python scripts/check.py --shuffle      the tests in another order
    python scripts/check.py --full --record  how long each group of tests takes, for tests/durations.json

Every check runs, even after one has failed. A test that failed runs once more, alone, at the end: if it passes then,
it is flaky, which is printed, and fails the checks only where there are several. The last lines name the commit, what
took how long, what was skipped, what is flaky and what failed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this script is run by its path

from scripts.changed_tests import changed_files, find_tests  # noqa: E402
from scripts.run_tests import TestRun, run_tests  # noqa: E402
from scripts.streaming import run_streaming  # noqa: E402
from tests import durations, patience, tier  # noqa: E402

PYTHON = sys.executable
TESTS = "pytest"
LAST = ROOT / ".cache" / "checks" / "last.json"
# Seconds on an idle machine until a run of tests is ended, by its option.
LIMITS = {"--fast": 1200.0, "--full": 4500.0, "--soak": 8 * 3600.0}
_SLOWEST = 8
_PER_TEST_LINES = 40


@dataclass
class Outcome:
    """What the checks found."""

    seconds: dict[str, float] = field(default_factory=dict)  # by check
    failed: list[str] = field(default_factory=list)  # checks
    tests: TestRun = field(default_factory=TestRun)
    # Before, at the same commit: checks and tests.
    passed: set[str] = field(default_factory=set)

    @property
    def passed_until_now(self) -> list[str]:
        checks = {name for name in self.seconds if name not in self.failed and name != TESTS}
        return sorted(self.passed | checks | {*self.tests.passed})


def linters(option: str) -> dict[str, list[str]]:
    """The commands of all checks but the tests, by name."""
    slow = {
        "mypy": [PYTHON, "-m", "mypy"],
        "docs": [
            PYTHON,
            "-m",
            "cogapp",
            "--check",
            "-I",
            ".",
            *map(str, (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))),
        ],
    }
    return {
        "ruff check": [PYTHON, "-m", "ruff", "check", "."],
        "ruff format": [PYTHON, "-m", "ruff", "format", "--check", "."],
        "imports": [PYTHON, "-c", "from importlinter.cli import lint_imports_command as main; main()"],
        "workflows": [PYTHON, "scripts/lint_workflows.py"],
        **(slow if option != "--fast" else {}),
    }


def main() -> int:
    options = read_options()
    last = read_last() if options.last_failed else None
    if last is not None:
        options.tier = last["tier"]
    commit, seed = commit_name(), choose_seed()
    os.environ[tier.SEED_VARIABLE] = str(seed)
    print(f"commit {commit}, seed {seed}, time limits x {patience.factor():.1f}", flush=True)
    outcome = Outcome(passed=passed_before(commit) if options.rest else set())
    try:
        run_checks(options, last, outcome)
    except KeyboardInterrupt:
        print(f"\nInterrupted. Failed until then: {', '.join(outcome.failed) or 'nothing'}")
        return 130
    summarize(commit, options.tier, outcome)
    write_last(commit, options.tier, outcome)
    if options.record:
        durations.record(options.tier, outcome.tests.seconds)
    return 1 if outcome.failed else 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    group = parser.add_mutually_exclusive_group()
    for option, what in (("--full", "run all tests"), ("--soak", "run all tests, the long ones in full size")):
        group.add_argument(option, dest="tier", action="store_const", const=option, default="--fast", help=what)
    part = parser.add_mutually_exclusive_group()
    part.add_argument(
        "--changed", nargs="?", const="HEAD", metavar="BASE", help="run the tests that changes since BASE can reach"
    )
    part.add_argument("--last-failed", action="store_true", help="run what failed or was flaky the last time")
    part.add_argument("--rest", action="store_true", help="leave out what has passed here already, at this commit")
    parser.add_argument("--record", action="store_true", help="record how long each group of tests took")
    parser.add_argument("--shuffle", action="store_true", help="run files and their tests in a random order")
    return parser.parse_args()


def run_checks(options: argparse.Namespace, last: dict[str, Any] | None, outcome: Outcome) -> None:
    """Run each check, or those that `last` names, and note in `outcome` what became of it."""
    tests = choose_tests(options, last)
    for name, argv in linters(options.tier).items():
        if name not in outcome.passed and (last is None or name in last["failed"]):
            started = begin(name)
            status, _ = run_streaming(argv, ROOT)
            end(outcome, name, started, ok=status == 0)
    if tests is None:
        print(f"== {TESTS}: none to run", flush=True)
        return
    words = [options.tier, "--durations=20"]
    if options.shuffle:
        words += ["--random-order", f"--random-order-seed={os.environ[tier.SEED_VARIABLE]}"]
    started = begin(TESTS)
    with tempfile.NamedTemporaryFile("w", prefix="passed-", encoding="utf-8") as file:
        if outcome.passed:
            file.write("\n".join(sorted(outcome.passed)))
            file.flush()
            words.append(f"--passed={file.name}")
        outcome.tests = run_tests(words, ROOT, LIMITS[options.tier], tests)
    end(outcome, TESTS, started, ok=outcome.tests.is_green)


def choose_tests(options: argparse.Namespace, last: dict[str, Any] | None) -> list[str] | None:
    """Return the tests to run; an empty list means all, None means none."""
    if last is not None:
        tests = [*last["tests"], *last["flaky"]]
        return tests if tests or TESTS in last["failed"] else None
    if options.changed is None:
        return []
    try:
        reached = find_tests(changed_files(options.changed))
    except subprocess.CalledProcessError as error:
        sys.exit(f"--changed {options.changed}: {error.stderr.strip().splitlines()[0]}")
    print(f"tests that are reached: {'all' if reached is None else ' '.join(reached) or 'none'}", flush=True)
    return [] if reached is None else reached or None


def begin(name: str) -> float:
    print(f"== {name}", flush=True)
    return time.monotonic()


def end(outcome: Outcome, name: str, started: float, *, ok: bool) -> None:
    outcome.seconds[name] = time.monotonic() - started
    if not ok:
        outcome.failed.append(name)
    print(f"== {name}: {'ok' if ok else 'FAILED'} in {outcome.seconds[name]:.0f} s", flush=True)


def summarize(commit: str, option: str, outcome: Outcome) -> None:
    """Print what was looked at, how long it took, what was skipped, what is flaky, and what failed."""
    tests = outcome.tests
    for test, text in [*tests.flaky.items(), *tests.failed.items()]:
        lines = text.splitlines()
        left_out = [f"... {len(lines) - _PER_TEST_LINES} lines left out; all of them are above"]
        shown = lines if len(lines) <= _PER_TEST_LINES else [*lines[: _PER_TEST_LINES - 20], *left_out, *lines[-20:]]
        print(f"== {'flaky' if test in tests.flaky else 'failed'}: {test}", *shown, sep="\n")
    print(f"== commit {commit}, {option}")
    print("Time:", ", ".join(f"{name} {seconds:.0f} s" for name, seconds in outcome.seconds.items()))
    if tests.seconds:
        by_time = sorted(tests.seconds.items(), key=lambda item: -item[1])
        slowest = [f"{group} {seconds:.0f} s" for group, seconds in by_time[:_SLOWEST]]
        total = sum(tests.seconds.values())
        print(f"Groups of tests: {total:.0f} s on one worker; the longest:", ", ".join(slowest))
    print("Skipped:" if tests.skipped else "Nothing was skipped.", *tests.skipped, sep="\n")
    print(*(f"Flaky: {test}" for test in tests.flaky), sep="\n", end="\n" if tests.flaky else "")
    print(*(f"Failed: {test}" for test in tests.failed), sep="\n", end="\n" if tests.failed else "")
    reasons = [f"{name} ({tests.problem})" if name == TESTS and tests.problem else name for name in outcome.failed]
    print(f"Failed: {', '.join(reasons)}" if reasons else "All checks passed.", flush=True)


def commit_name() -> str:
    """The commit that is checked out, and whether files differ from it."""
    try:
        head = git("rev-parse", "--short=10", "HEAD")
        return f"{head} with uncommitted changes" if git("status", "--porcelain") else head
    except (OSError, subprocess.CalledProcessError):
        return "none (not a Git repository)"


def choose_seed() -> int:
    """What is sampled differs from commit to commit, and is the same for one: TEST_SEED, else by the commit's id."""
    try:
        return int(os.environ.get(tier.SEED_VARIABLE) or int(git("rev-parse", "HEAD")[:8], 16))
    except (OSError, subprocess.CalledProcessError):
        return 0


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def read_last() -> dict[str, Any]:
    """What became of the last check. Exits where there was none, or its record cannot be read."""
    try:
        last: dict[str, Any] = json.loads(LAST.read_text(encoding="utf-8"))
        last["tier"], last["failed"], last["tests"], last["flaky"], last["passed"], last["commit"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        what = "no check was run here yet" if isinstance(error, FileNotFoundError) else f"{LAST} cannot be read"
        sys.exit(f"{what}; run python scripts/check.py first, without --last-failed or --rest")
    return last


def passed_before(commit: str) -> set[str]:
    """What has passed at `commit`; nothing where the last check was of another, or files differ from it."""
    last = read_last()
    is_as_committed = " " not in commit  # else it says what differs
    if last["commit"] == commit and is_as_committed:
        return set(last["passed"])
    print(f"--rest: the last check was of {last['commit']}, this is {commit}: everything runs", flush=True)
    return set()


def write_last(commit: str, option: str, outcome: Outcome) -> None:
    tests = outcome.tests
    last = {
        "commit": commit,
        "tier": option,
        "failed": outcome.failed,
        "tests": [*tests.failed],
        "flaky": [*tests.flaky],
        "passed": outcome.passed_until_now,
    }
    LAST.parent.mkdir(parents=True, exist_ok=True)
    LAST.write_text(f"{json.dumps(last, indent=2)}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
