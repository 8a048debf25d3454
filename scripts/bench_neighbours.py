"""What attacks that use something up cost their neighbours: a benign project beside one, against beside its like.

    python scripts/bench_neighbours.py [--level strict] [--attacks REGEX] [--rounds N] [--json]

Two projects are graded at a time. First the benign one beside itself, then beside each attack, over and over until the
attack is over, then beside itself again. Prints medians and ratios; exit code 1 where a verdict differs, or where a
neighbour takes more than twice as long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.errors import UserError
from convex_evals.grade.sandbox.base import Level
from convex_evals.records import Outcome
from scripts.command import start
from tests.attacks.bench import FULL, NORMAL, Bench, Size, open_bench
from tests.attacks.projects import ATTACKS, FUNCTION, Attack

MOST = 2.0


async def neighbour(bench: Bench) -> float:
    """Seconds that a benign project takes. Exits where it does not pass."""
    ev = bench.evals[FUNCTION]
    start = time.monotonic()
    verdict = await bench.grader.grade(ev, ev.answer().files)
    if verdict.outcome is not Outcome.PASSED:
        sys.exit(f"the neighbour {verdict.outcome.value}: {verdict.reason}")
    return time.monotonic() - start


async def calm(bench: Bench, rounds: int) -> list[float]:
    found: list[float] = []
    for _ in range(rounds):
        found += await asyncio.gather(neighbour(bench), neighbour(bench))
    return found


async def beside(bench: Bench, attack: Attack) -> list[float]:
    """Seconds of the benign project, time and again while the attack lasts."""
    files = attack.files({**bench.constants, "nonce": f"x{time.monotonic_ns():x}"})
    running = asyncio.create_task(bench.grader.grade(bench.evals[attack.eval_id], files))
    # Its own preparations are like any project's.
    await asyncio.sleep(0.5)
    found = [await neighbour(bench)]
    while not running.done() and len(found) < 40:
        found.append(await neighbour(bench))
    await running
    return found


def chosen(pattern: str) -> list[Attack]:
    """Attacks that may run beside a neighbour, by a regular expression. Raises `UserError` where there is none."""
    try:
        found = [attack for attack in ATTACKS if attack.beside and re.search(pattern, attack.name)]
    except re.error as error:
        raise UserError(f"--attacks {pattern!r}: not a regular expression: {error}") from None
    if not found:
        there = ", ".join(attack.name for attack in ATTACKS if attack.beside)
        raise UserError(f"--attacks {pattern!r}: no attack matches; there are: {there}")
    return found


async def measure(
    level: Level, attacks: Sequence[Attack], rounds: int, size: Size
) -> tuple[list[float], dict[str, list[float]]]:
    with tempfile.TemporaryDirectory(prefix="neighbours-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        async with open_bench(level, folder, cache_dir(), size) as bench:
            await calm(bench, 2)
            alike = await calm(bench, rounds)
            found = {}
            for attack in attacks:
                print(attack.name, file=sys.stderr)
                found[attack.name] = await beside(bench, attack)
            alike += await calm(bench, rounds)
    return alike, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--level", type=Level, default=Level.STRICT, choices=[level for level in Level if level is not Level.NONE]
    )
    parser.add_argument("--attacks", default="", metavar="REGEX", help="only attacks whose name matches")
    parser.add_argument("--rounds", type=int, default=5, help="of two calm projects, before and after")
    parser.add_argument("--full", action="store_true", help="attacks in full size: 10 GB, 20,000 processes")
    parser.add_argument("--json", action="store_true", dest="as_json")
    options = parser.parse_args()
    size = FULL if options.full else NORMAL
    alike, found = asyncio.run(measure(options.level, chosen(options.attacks), options.rounds, size))
    usual = statistics.median(alike)
    ratios = {name: statistics.median(seconds) / usual for name, seconds in found.items()}
    if options.as_json:
        print(json.dumps({"calm_s": usual, "ratios": ratios}))
    else:
        print(f"beside its like: {usual:.2f} s")
        for name, ratio in sorted(ratios.items(), key=lambda pair: -pair[1]):
            print(f"{ratio:5.2f}x  {len(found[name]):3} times  {name}")
        print(f"all of them: {statistics.median(ratios.values()):.2f}x")
    sys.exit(1 if max(ratios.values(), default=0) > MOST else 0)


if __name__ == "__main__":
    start(main)
