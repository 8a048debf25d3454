"""One deployment for all tests of a worker, empty for each test that asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.publish import probes
from convex_evals.publish.client import Patience
from tests.publish.deployed import APP, Deployment, deployed
from tests.publish.faulty_proxy import FaultyProxy, faulty_proxy


@pytest.fixture(scope="session")
def running_deployment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, toolchain: Path
) -> Iterator[Deployment]:
    app = getattr(request, "param", APP)
    with deployed(tmp_path_factory.mktemp("deployment"), toolchain, app) as deployment:
        yield deployment


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less waiting than for a deployment far away; what the proxy sends late arrives all the same."""
    patience = Patience(pause_seconds=0.02, longest_pause_seconds=0.5, settle_seconds=1.3)
    monkeypatch.setattr(probes, "PATIENCE", patience)


@pytest.fixture
def deployment(running_deployment: Deployment) -> Deployment:
    running_deployment.clear()
    return running_deployment


@pytest.fixture
def proxy(deployment: Deployment) -> Iterator[FaultyProxy]:
    with faulty_proxy(deployment.url) as proxy:
        yield proxy
