"""The leaderboard's app on loopback, empty for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.publish.deployed import LEADERBOARD, Deployment, deployed


@pytest.fixture(scope="session")
def running_leaderboard(tmp_path_factory: pytest.TempPathFactory, toolchain: Path) -> Iterator[Deployment]:
    with deployed(tmp_path_factory.mktemp("leaderboard"), toolchain, LEADERBOARD) as deployment:
        yield deployment


@pytest.fixture
def board(running_leaderboard: Deployment) -> Deployment:
    running_leaderboard.clear()
    return running_leaderboard
