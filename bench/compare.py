"""How long it takes to tell what a change of guidelines did, against the targets of the project.

    python bench/compare.py [--commits N] [--results N] [--times K] [--json]

Makes a repository up with N commits of guidelines (2,000) and N results (10,000: evals of runs, three trials each, of
six models with guidelines all over that history), and times `cli diff-guidelines` between two commits that have runs,
and `cli guidelines coverage`. Whole processes; the median counts. Exit code 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.fabricate import Campaign, eval_ids, make_repository, models, texts
from scripts.command import start

ROOT = Path(__file__).parents[1]
TARGETS = {"diff_s": 2.0, "coverage_s": 2.0}
MODELS, EVALS, TRIALS = 6, 40, 3


@dataclass(frozen=True)
class Figures:
    diff_s: float  # `cli diff-guidelines`, whole process
    coverage_s: float  # `cli guidelines coverage`
    commits: int
    results: int
    compared: int  # models that the diff gave a verdict on


def timed(folder: Path, times: int, *arguments: str) -> tuple[float, str]:
    """Median seconds of the command, and what it printed last."""
    seconds, out = [], ""
    for _ in range(times):
        start = time.perf_counter()
        argv = [sys.executable, str(ROOT / "cli.py"), *arguments]
        out = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=True).stdout
        seconds.append(time.perf_counter() - start)
    return round(statistics.median(seconds), 3), out


def measure(commits: int, results: int, times: int) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        suite, evals = Path(name), eval_ids(EVALS)
        versions = texts(commits, evals)
        made = make_repository(suite, versions, evals)
        wanted = max(2, -(-results // (MODELS * EVALS)))
        ran = sorted({round(n * (commits - 1) / (wanted - 1)) for n in range(wanted)})
        campaign = Campaign(models(MODELS), ran, evals, TRIALS, lambda model, eval_id, version: 0.6)
        found = campaign.write(suite / "runs", versions)
        # The last two versions that have runs: the newest of them is what is in the working tree.
        diff_s, out = timed(suite, times, "diff-guidelines", made[ran[-2]], "--format", "json")
        coverage_s, _ = timed(suite, times, "guidelines", "coverage", "--json")
        return Figures(diff_s, coverage_s, len(made), found, len(json.loads(out)["models"]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--commits", type=int, default=2_000, help="of guidelines; at least 2")
    parser.add_argument("--results", type=int, default=10_000, help="how many are made up, about")
    parser.add_argument("--times", type=int, default=5, help="how often each command is timed; at least 1")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.commits < 2 or options.times < 1:
        parser.error("--commits must be at least 2, --times at least 1")
    figures = measure(options.commits, options.results, options.times)
    met = {name: getattr(figures, name) <= most for name, most in TARGETS.items()}
    if options.json:
        print(json.dumps({**asdict(figures), "targets": TARGETS, "met": met}, indent=2))
    else:
        print(f"{figures.commits:,} commits, {figures.results:,} results, {figures.compared} models compared")
        for name, what in (("diff_s", "cli diff-guidelines"), ("coverage_s", "cli guidelines coverage")):
            verdict = "met" if met[name] else "MISSED"
            print(f"{what:24} {getattr(figures, name):6.3f} s   target: at most {TARGETS[name]:g} s: {verdict}")
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    start(main)
