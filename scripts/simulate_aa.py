"""False-alarm rates and power of our verdicts, simulated. docs/statistics.md shows the output.

    python scripts/simulate_aa.py [--experiments N] [--json] [--only TEXT]

Every simulated experiment is judged by the functions that `cli compare` and `cli validate-guidelines` use; nothing is
reimplemented here. In an A/A experiment both sides are the same model with the same guidelines, so any reported change
is a false alarm. Evals are easy or hard (their pass probabilities have a U-shaped distribution), and a trial is a coin
with its eval's probability. A side runs on one day or on several, and an eval's trials may be correlated within a day.
Exits with 1 if a false-alarm rate is significantly above 5 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from scripts.command import start
from scripts.simulation.experiments import parts
from scripts.simulation.results import Power, Rate, RecipePower, Row, Simulation, render, to_data


def simulate(experiments: int, only: str) -> Simulation:
    """The parts whose name contains `only`, or the one of exactly that name."""
    start = time.monotonic()
    known = parts()
    found: list[Row] = []
    for name in [only] if only in known else [name for name in known if only in name]:
        print(f"{time.monotonic() - start:6.1f} s  {name}", file=sys.stderr, flush=True)
        found += known[name](experiments)
    print(f"{time.monotonic() - start:6.1f} s", file=sys.stderr)
    return Simulation(
        [row for row in found if isinstance(row, Rate)],
        [row for row in found if isinstance(row, Power)],
        [row for row in found if isinstance(row, RecipePower)],
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--experiments", type=int, default=10_000, metavar="N", help="of each kind; default 10000")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="the parts whose name contains it: 'A/A', '40 evals'"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.experiments < 1:
        parser.error("--experiments must be at least 1")
    found = simulate(options.experiments, options.only)
    if found == Simulation([], [], []):
        parser.error(f"--only {options.only}: no part is called that")
    if options.json:
        print(json.dumps(to_data(found), indent=2))
    else:
        print(render(found))
    return 0 if found.ok else 1


if __name__ == "__main__":
    start(main)
