"""What each query of the leaderboard's app reads and takes, and how that grows with the leaderboard.

    python bench/leaderboard_app.py [--models N] [--runs N] [--evals N]

The app answers in an embedded backend; documents read are counted by its transactions, as Convex counts them. One run
has all of its evals with six steps each; of the others only what lists and scores are made of is there.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from convex_evals.config import cache_dir
from tests.leaderboard.sent import mint
from tests.publish.deployed import LEADERBOARD, Deployment, deployed

STEPS = ("filesystem", "install", "deploy", "tsc", "eslint", "tests")
VERSIONS = ["v1", "v2", "v3"]
MOST_DOCUMENTS = 1000
TIMES = 7
SMALL = 10  # models that the same is measured with before


def send_whole_run(board: Deployment, evals: Sequence[str]) -> str:
    model = board.mutation("ensureModelFromSlug", slug="acme/whole", formattedName="Whole")
    run = board.mutation(
        "startRun", modelId=model, provider="acme", runId="whole", plannedEvals=evals, benchmarkVersion="v3"
    )
    for path in evals:
        category, _, name = path.partition("/")
        eval_id = board.mutation("startEval", runId=run, evalPath=path, category=category, name=name)
        for step in STEPS:
            board.mutation("recordStep", evalId=eval_id, name=step, status={"kind": "skipped"})
        board.mutation("completeEval", evalId=eval_id, status={"kind": "passed", "durationMs": 1})
    board.mutation("completeRun", runId=run, status={"kind": "completed", "durationMs": 1})
    return str(run)


def fill(board: Deployment, models: range, runs: int) -> None:
    for model in models:
        board.administrate("measure:fill", firstModel=model, models=1, runs=runs, versions=VERSIONS)
    board.administrate("measure:nameModels")


def measure(board: Deployment, run: str) -> dict[str, tuple[int, float]]:
    """Documents read and median milliseconds, by query."""
    model = board.query("models:getBySlug", slug="acme/1")["_id"]
    queries: dict[str, tuple[str, dict[str, Any]]] = {
        "listModels": ("models:listModels", {"paginationOpts": {"numItems": 1000, "cursor": None}}),
        "listRuns": ("runs:listRuns", {}),
        "listRuns of a model": ("runs:listRuns", {"modelId": model}),
        "getRunDetails": ("runs:getRunDetails", {"runId": run}),
        "listExperiments": ("runs:listExperiments", {}),
        "leaderboardScores": ("runs:leaderboardScores", {}),
        "leaderboardScores, 3 versions": ("runs:leaderboardScores", {"includeRecentPreviousBenchmarks": True}),
        "leaderboardScores, all": ("runs:leaderboardScores", {"benchmarkVersion": "all"}),
        "leaderboardVersions": ("runs:leaderboardVersions", {}),
        "leaderboardModelHistory": ("runs:leaderboardModelHistory", {"modelId": model}),
        "getModelSummary": ("runs:getModelSummary", {"modelId": model}),
        "getSchedulingStats": ("modelScores:getSchedulingStats", {"modelId": model}),
    }
    found = {}
    for shown, (name, args) in queries.items():
        documents = int(board.administrate("measure:reads", name=name, args=args)["documents"])
        times = []
        for _ in range(TIMES):
            begin = time.perf_counter()
            board.query(name, **args)
            times.append(1000 * (time.perf_counter() - begin))
        found[shown] = documents, statistics.median(times)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument(
        "--runs", type=int, default=20, help="of each model; the embedded backend sorts them for each list"
    )
    parser.add_argument("--evals", type=int, default=120, help="of the run that is there as a whole")
    given = parser.parse_args()
    evals = [f"{n % 8:03}-category/{n:03}-eval" for n in range(given.evals)]
    with tempfile.TemporaryDirectory() as temporary, deployed(Path(temporary), cache_dir(), LEADERBOARD) as board:
        for version in VERSIONS:
            mint(board, version, len(evals))
        run = send_whole_run(board, evals)
        fill(board, range(SMALL), given.runs)
        before = measure(board, run)
        fill(board, range(SMALL, given.models), given.runs)
        after = measure(board, run)
    print(f"{'query':32}{'documents':>10}{'ms':>8}   of {given.models} models with {given.runs} runs; and of {SMALL}")
    for name, (documents, ms) in after.items():
        few, quick = before[name]
        print(f"{name:32}{documents:>10}{ms:>8.1f}   {few:>6}{quick:>8.1f}   {ms / quick:.1f} x")
    most = max(documents for documents, _ in after.values())
    print(f"most documents: {most}, limit {MOST_DOCUMENTS}")
    return 0 if most <= MOST_DOCUMENTS else 1


if __name__ == "__main__":
    sys.exit(main())
