"""Whether a leaderboard that is served for long stays as fast, and as small, as it was in the beginning.

    python bench/leaderboard_calls.py [--calls N]

The app answers the same mutation N times; each tenth of the calls is a line, with the memory of all processes after it,
and the last tenth is compared with the second: the first one still compiles. Exits with 1 beyond a target.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.machine import memory_mib
from convex_evals.config import cache_dir
from tests.publish.deployed import LEADERBOARD, deployed

MOST_SLOWER = 1.5
MOST_LARGER = 1.5
PARTS = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=8000)
    each = max(parser.parse_args().calls // PARTS, 1)
    found: list[tuple[float, float]] = []  # milliseconds of a call, MiB
    with (
        tempfile.TemporaryDirectory() as folder,
        deployed(Path(folder), cache_dir(), LEADERBOARD) as board,
        httpx.Client(base_url=board.url, trust_env=False, timeout=60) as client,
    ):
        call = {"path": "admin:checkAssetHash", "args": {"token": board.token, "hash": "none"}, "format": "json"}
        print(f"{'calls':>8} {'ms a call':>10} {'MiB':>8}")
        for part in range(1, PARTS + 1):
            begin = time.perf_counter()
            for _ in range(each):
                client.post("/api/mutation", json=call).raise_for_status()
            found.append((1000 * (time.perf_counter() - begin) / each, memory_mib()))
            print(f"{part * each:>8} {found[-1][0]:>10.1f} {found[-1][1]:>8.0f}", flush=True)
    slower, larger = (found[-1][n] / found[1][n] for n in (0, 1))
    print(
        f"last / second tenth: {slower:.2f} x the time (limit {MOST_SLOWER}), {larger:.2f} x the memory ({MOST_LARGER})"
    )
    return int(slower > MOST_SLOWER or larger > MOST_LARGER)


if __name__ == "__main__":
    sys.exit(main())
