"""Grade random hostile mutations of honest projects, with honest neighbours after each batch.

    python scripts/fuzz_projects.py --count 2000 --seed 1 [--start N] [--only 17,18] [--level strict] [--report FILE]

A mutated project may pass or fail, but is never unscored; where the project below the mutations is wrong, it never
passes; where the mutations are harmless and it is right, it passes. Neighbours get the verdicts and messages they get
without any of this, and caches stay as they were. The report (JSON) is written after each batch, also when interrupted;
--start goes on from there. Exit code 1 where something was found.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.errors import UserError
from convex_evals.grading.sandbox.base import Level

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from convex_evals.suite.suite import load_suite  # noqa: E402
from scripts.command import start  # noqa: E402
from tests.attacks.bench import NORMAL, SUITE, open_bench  # noqa: E402
from tests.attacks.fuzz.fuzzing import Finding, Report, fuzz  # noqa: E402
from tests.attacks.fuzz.mutate import mutated  # noqa: E402
from tests.attacks.projects import ATTACKS  # noqa: E402


async def run(level: Level, report: Report, indexes: Sequence[int], file: Path | None) -> None:
    begin = time.monotonic()

    def progress(line: str) -> None:
        print(f"{time.monotonic() - begin:6.0f} s  {line}", file=sys.stderr)
        if file:
            file.write_text(shown(report), encoding="utf-8")

    with tempfile.TemporaryDirectory(prefix="fuzz-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        async with open_bench(level, folder, cache_dir(), NORMAL) as bench:
            await bench.settle(ATTACKS[:1])
            await fuzz(bench, report, indexes, progress)
            report.findings += [Finding((), problem, "at the end") for problem in await bench.at_the_end()]
        report.findings += [Finding((), problem, "left") for problem in bench.left]


def shown(report: Report) -> str:
    return json.dumps(dataclasses.asdict(report), indent=2, ensure_ascii=True) + "\n"


def numbers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise UserError(f"--only {text}: not numbers with commas between them") from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="number of the first project")
    parser.add_argument("--only", type=numbers, help="only these projects of the seed")
    parser.add_argument("--show", action="store_true", help="print the projects instead of grading them")
    parser.add_argument("--level", type=Level, default=Level.STRICT, choices=list(Level))
    parser.add_argument("--report", type=Path, metavar="FILE", help="written after each batch")
    options = parser.parse_args()
    indexes = options.only or range(options.start, options.start + options.count)
    if options.show:
        evals = {ev.id: ev for ev in load_suite(SUITE).evals}
        for index in indexes:
            project = mutated(evals, options.seed, index)
            print(json.dumps({"name": project.name, "files": project.files}, indent=2))
        return 0
    report = Report(options.seed)
    try:
        asyncio.run(run(options.level, report, indexes, options.report))
    finally:
        print(shown(report))
        if options.report:
            options.report.write_text(shown(report), encoding="utf-8")
    return 1 if report.findings else 0


if __name__ == "__main__":
    start(main)
