"""How fast the command line starts, and how fast it ranks a long history.

    python bench/startup.py [--runs N] [--times N] [--json]

Times `cli --help`, and has Python list what it imported: litellm must not be there. Then makes N runs of 110 evals by
20 models under two experiments in a temporary folder (500 runs: 55,000 trials, all their files), and times
`cli leaderboard` over them. Both are whole processes; the median counts. Exit code 1 where a target is missed.
Also says what reading prices without importing litellm saves, where no model is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.fabricate import eval_files, make_plan, write_all
from convex_evals.records import Summary
from convex_evals.records.benchmark import benchmark_id
from convex_evals.store.paths import slug_folders
from convex_evals.store.run import PLAN_NAME, SUMMARY_NAME, Run
from convex_evals.store.summary import summarize
from scripts.command import start

ROOT = Path(__file__).parents[1]
TARGETS = {"help_s": 0.2, "leaderboard_s": 1.5, "newest_s": 1.0}
MODELS, EVALS = 20, 110
EXPERIMENTS = ("default", "no_guidelines")
REPLY = "# Files\n\n## convex/main.ts\n\n```ts\nexport const answer = 42;\n```\n"
PRICES = (
    "from convex_evals.models.litellm_loader import load_litellm; assert load_litellm().model_cost",
    "from convex_evals.models.price import price_map; assert price_map()",
)


@dataclass(frozen=True)
class Figures:
    help_s: float  # `cli --help`, whole process
    leaderboard_s: float  # `cli leaderboard`, whole process: the latest ten runs of each model are checked
    newest_s: float  # `cli leaderboard --runs 1`, whole process
    runs: int
    trials: int
    ranked: int  # standings that the leaderboard printed
    litellm_s: float  # Python that imports litellm, whole process
    prices_s: float  # Python that reads its prices, whole process


def fabricate(suite: Path, runs: int) -> int:
    """Write `runs` runs, as their runs would have, into `suite`; the number of their trials."""
    ids = [f"{n // 10:03}-category/{n % 10:03}-eval" for n in range(EVALS)]
    (suite / "evals").mkdir()
    files = {(e, passed): eval_files("", e, [passed]) for e in ids for passed in (True, False)}
    summaries: dict[int, Summary] = {}  # by the pattern of passes, which repeats every ten runs
    for n in range(runs):
        plan = make_plan(f"provider{n % 4}/model-{n % MODELS:02}", EXPERIMENTS[n // MODELS % len(EXPERIMENTS)], n, ids)
        run = Run(suite.joinpath("runs", *slug_folders(plan.model), plan.date, plan.run_id), plan)
        for i, eval_id in enumerate(ids):
            write_all(run.eval_folder(eval_id), {"1.md": REPLY, **files[eval_id, (i * 7 + n) % 10 < 4 + n % 5]})
        if n % 10 not in summaries:
            summaries[n % 10] = summarize(run)
        own = {name: getattr(plan, name) for name in ("run_id", "model", "experiment", "date")}
        own["benchmark"] = benchmark_id(plan)
        summary = summaries[n % 10].model_copy(update=own)
        write_all(run.folder, {PLAN_NAME: plan.to_json(), SUMMARY_NAME: summary.to_json()})
    return runs * EVALS


def timed(folder: Path, times: int, *arguments: str) -> tuple[float, str]:
    """Median seconds of the command, and what it printed last."""
    seconds, out = [], ""
    for _ in range(times):
        start = time.perf_counter()
        out = cli(folder, *arguments).stdout
        seconds.append(time.perf_counter() - start)
    return round(statistics.median(seconds), 4), out


def price_seconds(times: int) -> tuple[float, float]:
    """Median seconds of both `PRICES`, in turns."""
    seconds: tuple[list[float], list[float]] = [], []
    for _ in range(times):
        for way, code in zip(seconds, PRICES, strict=True):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
            way.append(time.perf_counter() - start)
    return round(statistics.median(seconds[0]), 4), round(statistics.median(seconds[1]), 4)


def cli(folder: Path, *arguments: str, flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, *flags, str(ROOT / "cli.py"), *arguments]
    return subprocess.run(argv, cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=True)


def imported(folder: Path) -> set[str]:
    """The modules that `cli --help` imports, as Python itself lists them."""
    listed = cli(folder, "--help", flags=("-X", "importtime")).stderr
    return {line.rpartition("|")[2].strip() for line in listed.splitlines() if line.startswith("import time:")}


def measure(runs: int, times: int) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        suite = Path(name)
        modules = imported(suite)
        assert "convex_evals.cli.app" in modules
        assert "litellm" not in modules, "`cli --help` imports litellm"
        help_s, _ = timed(suite, times, "--help")
        trials = fabricate(suite, runs)
        leaderboard_s, out = timed(suite, times, "leaderboard", "--json")
        newest_s, _ = timed(suite, times, "leaderboard", "--runs", "1", "--json")
        ranked = len(json.loads(out)["standings"])
        return Figures(help_s, leaderboard_s, newest_s, runs, trials, ranked, *price_seconds(times))


def render(figures: Figures, met: dict[str, bool]) -> str:
    labels = {
        "help_s": "cli --help, without litellm",
        "leaderboard_s": f"cli leaderboard, {figures.runs} runs, {figures.trials:,} trials",
        "newest_s": "the same with --runs 1",
    }
    lines = [
        f"{label:46} {getattr(figures, name):6.3f} s   target: at most {TARGETS[name]:g} s: "
        f"{'met' if met[name] else 'MISSED'}"
        for name, label in labels.items()
    ]
    prices, litellm = figures.prices_s, figures.litellm_s
    label = "prices, without importing litellm"
    lines.append(f"{label:46} {prices:6.3f} s   importing it: {litellm:.3f} s, ratio {litellm / prices:.1f}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=500, help="how many runs are made up; at least 1")
    parser.add_argument("--times", type=int, default=5, help="how often each command is timed; at least 1")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.runs < 1 or options.times < 1:
        parser.error("--runs and --times must be at least 1")
    figures = measure(options.runs, options.times)
    met = {name: getattr(figures, name) <= most for name, most in TARGETS.items()}
    report = {**asdict(figures), "targets": TARGETS, "met": met}
    print(json.dumps(report, indent=2) if options.json else render(figures, met))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    start(main)
