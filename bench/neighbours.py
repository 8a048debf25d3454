"""What attacks cost their neighbours: an honest project beside one, against beside its like.

    python bench/neighbours.py [--level strict] [--attacks REGEX] [--rounds N] [--json]

Two projects are graded at a time. First the honest one beside itself, then beside each attack, over and over until the
attack is over, then beside itself again. Its bytes are new each time, so that every step does its work; time limits are
those of the evals, which are longer than in the tests. Prints the median and the worst delay beside each attack, as
ratios, and the worst of all. Exit code 1 where a verdict differs, or where the median beside an attack is more than 2.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.grading.sandbox.base import Level
from convex_evals.records import Outcome
from scripts.command import start
from tests.attacks.bench import FULL, NORMAL, Bench, Size, open_bench
from tests.attacks.neighbours import neighbours_of
from tests.attacks.projects import Attack, choose_attacks

MOST = 2.0


async def neighbour(bench: Bench) -> float:
    """Seconds that an honest project takes. Exits where it does not pass."""
    honest = neighbours_of(bench.evals)[0]
    start = time.monotonic()
    verdict = await bench.service.grade(honest.ev, honest.variant())
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
    running = asyncio.create_task(bench.service.grade(bench.evals[attack.eval_id], files))
    # Its own preparations are like any project's.
    await asyncio.sleep(0.5)
    found = [await neighbour(bench)]
    while not running.done() and len(found) < 40:
        found.append(await neighbour(bench))
    await running
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
    alike, found = asyncio.run(measure(options.level, choose_attacks(options.attacks), options.rounds, size))
    usual = statistics.median(alike)
    ratios = {name: statistics.median(seconds) / usual for name, seconds in found.items()}
    worst = {name: max(seconds) / usual for name, seconds in found.items()}
    if options.as_json:
        print(json.dumps({"calm_s": usual, "calm_worst": max(alike) / usual, "ratios": ratios, "worst": worst}))
    else:
        print(f"beside its like: {usual:.2f} s, at worst {max(alike) / usual:.2f}x")
        for name, ratio in sorted(ratios.items(), key=lambda pair: -worst[pair[0]]):
            print(f"{ratio:5.2f}x, at worst {worst[name]:5.2f}x of {len(found[name]):3} times  {name}")
        name = max(worst, key=lambda name: worst[name])
        print(f"median of all {len(ratios)}: {statistics.median(ratios.values()):.2f}x")
        print(f"worst of all: {worst[name]:.2f}x ({worst[name] * usual:.1f} s beside {name})")
    sys.exit(1 if max(ratios.values()) > MOST else 0)


if __name__ == "__main__":
    start(main)
