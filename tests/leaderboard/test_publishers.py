"""What a publisher is told by the app: what its token may do, and why it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from convex_evals.publish import probes
from convex_evals.publish.client import Patience
from tests.cli.test_benchmark import PLANS
from tests.conftest import Invoke
from tests.publish.deployed import Deployment
from tests.publish.faulty_proxy import FaultyProxy, faulty_proxy
from tests.publish.publications import OUTCOMES, TOKEN_ENV, Home, make_home, only_error

pytestmark = pytest.mark.grading

RUN = "default-00000001"


@pytest.fixture
def proxy(board: Deployment) -> Iterator[FaultyProxy]:
    with faulty_proxy(board.url) as proxy:
        yield proxy


@pytest.fixture
def home(proxy: FaultyProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setattr(
        probes, "PATIENCE", Patience(pause_seconds=0.01, longest_pause_seconds=0.02, settle_seconds=0.1)
    )
    made = make_home(tmp_path, proxy.url)
    made.add_run(RUN, evals=dict(zip(OUTCOMES, PLANS.values(), strict=False)))
    return made


def token_for(board: Deployment, name: str, *scopes: str) -> str:
    return str(board.administrate("auth:createToken", name=name, scopes=list(scopes))["value"])


@pytest.mark.parametrize("redacts", [False, True])
def test_scopes_fit_the_commands(
    board: Deployment,
    home: Home,
    proxy: FaultyProxy,
    invoke: Invoke,
    monkeypatch: pytest.MonkeyPatch,
    redacts: bool,
) -> None:
    """In production, too, where Convex tells little of errors."""
    proxy.redacts = redacts
    publisher, minter = (token_for(board, f"{scope} {redacts}", scope) for scope in ("publish", "admin"))
    assert invoke("benchmark", "mint", "v1", "--from", RUN).status == 0
    monkeypatch.setenv(TOKEN_ENV, publisher)
    lacking = only_error(invoke("benchmark", "publish", "v1").err)
    assert f"the token in {TOKEN_ENV} lacks the scope 'admin'" in lacking and "and has publish" in lacking
    assert "lacks the scope 'admin'" in only_error(invoke("publish", "--all", "--mint").err)
    assert board.everything()["runs"] == board.everything()["benchmarks"] == []
    monkeypatch.setenv(TOKEN_ENV, minter)
    assert "lacks the scope 'publish'" in only_error(invoke("publish", "--all").err)
    assert ": minted." in invoke("benchmark", "publish", "v1").out
    (there,) = board.everything()["benchmarks"]
    assert there["name"] == "v1"
    monkeypatch.setenv(TOKEN_ENV, publisher)
    sent = invoke("publish", "--all", "--mint")
    assert sent.status == 0 and "minted there: nothing that was not" in sent.err
    (score,) = board.query("runs:leaderboardScores", benchmarkVersion="v1")
    assert score["scoreBenchmarkName"] == "v1" and score["runCount"] == 1
    board.administrate("auth:revokeToken", name=f"publish {redacts}")
    refused = only_error(invoke("publish", "--all", RUN).err)
    assert f"Revoked authentication token; check the token in {TOKEN_ENV}" in refused
    monkeypatch.setenv(TOKEN_ENV, "lb_0123456789abcdef_" + "0" * 48)
    assert "Invalid authentication token; check the token" in only_error(invoke("publish", "--all", RUN).err)
