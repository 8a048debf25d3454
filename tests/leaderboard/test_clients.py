"""Convex's own clients with the leaderboard's app."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from convex import ConvexClient

from convex_evals.grading.toolchain import locate_toolchain
from tests.leaderboard.sent import PLAN, mint, send
from tests.publish.deployed import Deployment

pytestmark = [pytest.mark.grading, pytest.mark.full]

SCRIPT = Path(__file__).with_name("subscribe.mjs")


def test_a_page_is_told_of_a_run_once_it_is_complete(board: Deployment, toolchain: Path) -> None:
    mint(board)
    script = board.project / SCRIPT.name  # beside its packages
    shutil.copy(SCRIPT, script)
    argv = [str(locate_toolchain(toolchain).node.executable), str(script), board.url]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as page:
        try:
            assert page.stdout
            assert json.loads(page.stdout.readline()) == {"told": [], "asked": 0}
            sent = send(board, complete=False)
            board.mutation("completeRun", runId=sent.run, status={"kind": "completed", "durationMs": 1})
            lines = iter(page.stdout.readline, "")
            told = next(line for line in map(json.loads, lines) if line["told"])
            assert told == {"told": ["acme/m"], "asked": 1}
        finally:
            page.kill()


def test_the_python_client_publishes_and_reads(board: Deployment) -> None:
    mint(board)
    client = ConvexClient(board.url)
    send(board)
    (score,) = client.query("runs:leaderboardScores")
    assert score["model"] == "acme/m" and score["totalScore"] == 1
    again = client.mutation("admin:checkAssetHash", {"token": board.token, "hash": "h"})
    assert again == {"exists": False, "storageId": None}
    details = client.query("runs:getRunDetails", {"runId": score["latestRunId"]})
    assert len(details["evals"]) == len(PLAN)
