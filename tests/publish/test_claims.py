"""A ledger is a claim: nothing is done to a run there that is not the trial."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convex_evals.store.run import Run
from tests.conftest import Invoke
from tests.publish.deployed import APP, LEADERBOARD, Deployment
from tests.publish.publications import (
    MODEL,
    TOKEN_ENV,
    Home,
    check_published,
    ledger,
    ledger_path,
    make_home,
    only_error,
)

pytestmark = [
    pytest.mark.grading,
    pytest.mark.parametrize(
        "running_deployment",
        [
            pytest.param(APP, id="strict"),
            pytest.param(LEADERBOARD, id="leaderboard", marks=pytest.mark.full),
        ],
        indirect=True,
        scope="session",
    ),
]

RUN = "default-00000001"


@pytest.fixture
def home(deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    return make_home(tmp_path, deployment.url)


def start(deployment: Deployment, run: Run, model: str = MODEL, **changes: Any) -> str:
    """A run there that somebody else has under way: the trial of `run` but for `changes`."""
    of_model = deployment.mutation("ensureModelFromSlug", slug=model, formattedName=model)
    facts = {
        "modelId": of_model,
        "provider": "acme",
        "runId": f"{run.plan.date}/{RUN}/1",
        "plannedEvals": sorted(run.plan.evals),
        "benchmarkVersion": run.benchmark,
        **changes,
    }
    return str(deployment.mutation("startRun", **facts))


def claim(run: Run, run_id: str, state: str, url: str) -> None:
    trials = [{"trial": 1, "state": state, "id": run_id}]
    record = {"kind": "publication", "schema": 1, "run_id": RUN, "deployment": "faulty", "url": url, "trials": trials}
    ledger_path(run).parent.mkdir(exist_ok=True)
    ledger_path(run).write_text(json.dumps(record), encoding="utf-8")


FOREIGN: dict[str, dict[str, Any]] = {
    "another run": {"runId": "2026-01-01/default-99999999/1"},
    "another trial": {"runId": f"2026-11-01/{RUN}/2"},
    "another model": {"model": "somebody/else"},
}


@pytest.mark.parametrize("state", ["started", "deleting", "published"])
@pytest.mark.parametrize("foreign", FOREIGN)
def test_the_run_of_somebody_else_is_left_alone(
    deployment: Deployment, home: Home, invoke: Invoke, foreign: str, state: str
) -> None:
    run = home.add_run(RUN)
    theirs = start(deployment, run, **FOREIGN[foreign])
    claim(run, theirs, state, deployment.url)
    before = _theirs(deployment, theirs)
    result = invoke("publish", "--all", RUN)
    assert result.status == 1 and f"is {theirs}, which is " in only_error(result.err)
    assert "nothing was changed" in result.err
    assert _theirs(deployment, theirs) == before
    # Repaired, the trial is sent as a run of its own.
    repaired = invoke("publish", "--all", RUN, "--repair")
    assert _theirs(deployment, theirs) == before
    if deployment.app == LEADERBOARD and foreign == "another model":  # which has one run of each name
        assert "was started with another modelId" in only_error(repaired.err)
        return
    assert repaired.status == 0 and ledger(run)[1] != ("published", theirs)
    deployment.mutation("deleteRun", runId=theirs)
    if foreign != "another model":
        check_published(deployment, run)


def _runs(deployment: Deployment) -> list[dict[str, Any]]:
    return deployment.everything()["runs"]


def _theirs(deployment: Deployment, run_id: str) -> list[dict[str, Any]]:
    return [run for run in _runs(deployment) if run["_id"] == run_id]


@pytest.mark.parametrize("state", ["started", "deleting", "none"])
def test_a_run_of_another_benchmark_is_replaced_if_asked(
    deployment: Deployment, home: Home, invoke: Invoke, state: str
) -> None:
    run = home.add_run(RUN)
    older = start(deployment, run, benchmarkVersion="f" * 64)
    if state != "none":
        claim(run, older, state, deployment.url)
    before = _runs(deployment)
    result = invoke("publish", "--all", RUN)
    if deployment.app == LEADERBOARD and state == "none":  # which lists no run that is under way, and knows its name
        assert "was started with another benchmarkVersion" in only_error(result.err) and _runs(deployment) == before
        return
    assert result.status == 1 and "it is of another benchmark" in only_error(result.err) and "--repair" in result.err
    assert _runs(deployment) == before
    assert invoke("publish", "--all", RUN, "--repair").status == 0
    check_published(deployment, run)
