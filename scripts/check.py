"""All checks of this repository, in the order of their cost. The README's test command.

    python scripts/check.py            the fast tier of the tests, lint, and the layers of imports
    python scripts/check.py --full     all tests, types, and the generated documents
    python scripts/check.py --soak     all tests, the long ones in full size

Every check runs, even after one has failed; the failed ones are named at the end, and so is what had to be skipped.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable


def checks(tier: str | None) -> dict[str, list[str]]:
    """What is run, by name; `tier` is an option of pytest's."""
    slow = {
        "mypy": [PYTHON, "-m", "mypy"],
        "docs": [PYTHON, "-m", "cogapp", "--check", "-I", ".", *map(str, sorted((ROOT / "docs").glob("*.md")))],
    }
    return {
        "ruff check": [PYTHON, "-m", "ruff", "check", "."],
        "ruff format": [PYTHON, "-m", "ruff", "format", "--check", "."],
        "imports": [PYTHON, "-c", "from importlinter.cli import lint_imports_command as main; main()"],
        **(slow if tier else {}),
        # Tests stay together as tests/conftest.py groups them, the longest first.
        "pytest": [
            PYTHON,
            "-m",
            "pytest",
            "-rs",
            "--durations=20",
            "-n2",
            "--dist=loadgroup",
            *([tier] if tier else []),
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    tier = parser.add_mutually_exclusive_group()
    for option, what in (("--full", "run all tests"), ("--soak", "run all tests, the long ones in full size")):
        tier.add_argument(option, dest="tier", action="store_const", const=option, help=what)
    failed, skipped = [], []
    for name, argv in checks(parser.parse_args().tier).items():
        print(f"== {name}", flush=True)
        start = time.monotonic()
        lines, status = run(argv)
        skipped += [line for line in lines if line.startswith("SKIPPED")]
        if status:
            failed.append(name)
        print(f"== {name}: {'FAILED' if status else 'ok'} in {time.monotonic() - start:.0f} s", flush=True)
    print("Skipped:" if skipped else "Nothing was skipped.", *skipped, sep="\n")
    print(f"Failed: {', '.join(failed)}" if failed else "All checks passed.")
    return 1 if failed else 0


def run(argv: list[str]) -> tuple[list[str], int]:
    """Run a check, show its output as it comes, and keep it."""
    lines = []
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    return lines, process.returncode


if __name__ == "__main__":
    sys.exit(main())
