"""How long it takes to decide which of many models are due: what `cli due` does once it has read its files.

python bench/due.py [--models N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from datetime import UTC, datetime, timedelta

from convex_evals.analysis.due import Scheduled, decide
from scripts.command import start

_TARGET_S = 0.5


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--models", type=int, default=10_000, help="how many are made up; at least 1")
    count = parser.parse_args().models
    now = datetime(2026, 11, 25, 12, tzinfo=UTC)
    days = [(now - timedelta(days=n)).date() for n in range(1_000)]
    scheduled = [
        Scheduled(f"provider{n % 9}/model-{n}", "default", days[n * 7 % 1_000], days[n * 3 % 70], float(n % 60))
        for n in range(count)
    ]
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        due = sum(d.is_due for d in decide(scheduled, now))
        seconds.append(time.perf_counter() - begun)
    found = statistics.median(seconds)
    print(f"{count:,} models, {due:,} due: {found:.3f} s; target: at most {_TARGET_S:g} s for 10,000")
    return 0 if found <= _TARGET_S else 1


if __name__ == "__main__":
    start(main)
