"""The files of replies in a deployment, which go with their run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convex_evals.store.run import Run
from tests.conftest import Invoke
from tests.publish.deployed import APP, LEADERBOARD, Deployment
from tests.publish.faulty_proxy import Fault, FaultyProxy
from tests.publish.publications import TOKEN_ENV, Home, check_published, ledger, make_home, only_error

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
TWO_TRIALS = {"000-fundamentals/000-answer": "pp", "000-fundamentals/001-other": "ff"}


@pytest.fixture
def home(proxy: FaultyProxy, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    return make_home(tmp_path, proxy.url)


def evals_of(deployment: Deployment, run: Run, trial: int) -> list[dict[str, Any]]:
    own = ledger(run)[trial][1]
    return [each for each in deployment.everything()["evals"] if each["runId"] == own]


def lose_a_file(deployment: Deployment, run: Run, trial: int = 1) -> None:
    file = evals_of(deployment, run, trial)[0]["status"]["outputStorageId"]
    deployment.administrate("inspect:loseFile", storageId=file)


def test_a_trial_that_is_sent_again_takes_no_file_of_another(
    deployment: Deployment, home: Home, proxy: FaultyProxy, invoke: Invoke
) -> None:
    """All trials have the same reply, byte for byte."""
    run = home.add_run(RUN, dict.fromkeys(TWO_TRIALS, "pppp"))
    assert invoke("publish", "--all").status == 0
    by_trial = [each["status"]["outputStorageId"] for n in range(1, 5) for each in evals_of(deployment, run, n)]
    assert len(set(by_trial)) == len(by_trial) == 8
    # The first trial is deleted with its files, and sent as a new one.
    deployment.administrate("inspect:copy", table="evals")
    result = invoke("publish", "--all", "--repair", "--json")
    assert result.status == 0, result.err
    hows = [each["how"] for each in json.loads(result.out)["runs"][0]["trials"]]
    assert sorted(hows) == ["sent", "was there", "was there", "was there"]
    check_published(deployment, run)


def test_a_file_that_is_gone_is_sent_again(deployment: Deployment, home: Home, invoke: Invoke) -> None:
    run = home.add_run(RUN, TWO_TRIALS)
    assert invoke("publish", "--all").status == 0
    lose_a_file(deployment, run)
    with pytest.raises(AssertionError):
        check_published(deployment, run)
    before = ledger(run)
    assert "1 completed, 1 was there" in invoke("publish", "--all", RUN).out
    check_published(deployment, run)
    assert ledger(run) == before


def test_files_are_asked_for_after_sending(
    deployment: Deployment, home: Home, proxy: FaultyProxy, invoke: Invoke
) -> None:
    """What another publisher deletes meanwhile is noticed before it is said that everything is there."""
    run = home.add_run(RUN)

    def lose(_number: int, asked: str) -> None:
        if asked == "admin:completeRun":
            lose_a_file(deployment, run)

    proxy.plan(lose)
    assert "1 sent" in invoke("publish", "--all").out
    check_published(deployment, run)


@pytest.mark.parametrize("spoil", ["gone", "shared"])
def test_a_run_is_deleted_whatever_became_of_its_files(
    deployment: Deployment, home: Home, invoke: Invoke, spoil: str
) -> None:
    run = home.add_run(RUN)
    assert invoke("publish", "--all").status == 0
    evals = evals_of(deployment, run, 1)
    if spoil == "gone":
        lose_a_file(deployment, run)
    # An eval that is there twice, with the same file.
    deployment.administrate("inspect:copy", table="evals")
    assert len(evals_of(deployment, run, 1)) == len(evals) + 1
    result = invoke("publish", "--all", "--repair", RUN)
    assert result.status == 0 and "1 sent" in result.out, result.err
    check_published(deployment, run)


def test_one_trial_that_cannot_be_repaired_keeps_no_other_from_being_sent(
    deployment: Deployment, home: Home, proxy: FaultyProxy, invoke: Invoke
) -> None:
    run = home.add_run(RUN, TWO_TRIALS)
    other = home.add_run("default-00000002")
    doubled: list[str] = []

    def never_delete(_number: int, asked: str) -> Fault | None:
        if asked == "admin:startEval" and not doubled:
            doubled.append(asked)
            return Fault.TWICE
        return Fault.UNAVAILABLE if asked == "admin:deleteRun" else None

    proxy.plan(never_delete)
    result = invoke("publish", "--all", "--json")
    if deployment.app == LEADERBOARD:  # which knows a call that is repeated
        assert result.status == 0
        return
    assert result.status == 1 and "trial 1: " in only_error(result.err) and "given up" in result.err
    first, second = json.loads(result.out)["runs"]
    assert [each["how"] for each in first["trials"]] == ["failed", "sent"] and first["trials"][0]["reason"]
    assert [each["how"] for each in second["trials"]] == ["sent"]
    proxy.faultless()
    assert invoke("publish", "--all").status == 0
    check_published(deployment, run, other)


def test_a_source_that_is_gone_is_sent_again(deployment: Deployment, home: Home, invoke: Invoke) -> None:
    first = home.add_run(RUN)
    assert invoke("publish", "--all").status == 0
    for each in evals_of(deployment, first, 1):
        deployment.administrate("inspect:loseFile", storageId=each["evalSourceStorageId"])
    second = home.add_run("default-00000002")
    assert invoke("publish", "--all").status == 0
    files = {file["_id"] for file in deployment.everything()["files"]}
    assert {each["evalSourceStorageId"] for each in evals_of(deployment, second, 1)} <= files
