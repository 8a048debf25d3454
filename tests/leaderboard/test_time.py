"""The tests of leaderboard/tests/, in convex-test and vitest."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from convex_evals.grading.toolchain import locate_toolchain
from tests.publish.deployed import Deployment

pytestmark = [pytest.mark.grading, pytest.mark.full]


def test_convex_test(running_leaderboard: Deployment, toolchain: Path) -> None:
    located = locate_toolchain(toolchain)
    vitest = located.node_modules / "vitest" / "vitest.mjs"
    argv = [str(located.node.executable), str(vitest), "run", "--root", "."]
    done = subprocess.run(argv, cwd=running_leaderboard.project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout, done.stdout
