"""Whether a deployment has what was published, and runs that are taken back from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.store.run import Run
from tests.conftest import Invoke
from tests.end_to_end.repositories import git
from tests.publish.deployed import APP, LEADERBOARD, Deployment
from tests.publish.faulty_proxy import Fault, FaultyProxy
from tests.publish.publications import (
    MODEL,
    NAME,
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
def home(proxy: FaultyProxy, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    return make_home(tmp_path, proxy.url)


def _lose_a_file(deployment: Deployment, run: Run) -> None:
    file = deployment.everything()["evals"][0]["status"]["outputStorageId"]
    deployment.administrate("inspect:loseFile", storageId=file)


def _delete(deployment: Deployment, run: Run) -> None:
    deployment.mutation("deleteRun", runId=ledger(run)[1][1])


def _double(deployment: Deployment, run: Run) -> None:
    deployment.administrate("inspect:copy", table="evals")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_lose_a_file, "is there in part: evals or files are missing"),
        (_delete, "the deployment has no such run"),
        (_double, "an eval is there twice"),
    ],
)
def test_a_deployment_is_compared_with_the_repository(
    deployment: Deployment,
    home: Home,
    proxy: FaultyProxy,
    invoke: Invoke,
    spoil: Callable[[Deployment, Run], None],
    said: str,
) -> None:
    run = home.add_run(RUN)
    nothing = invoke("publish", "--verify")
    assert nothing.status == 0 and nothing.out == f"{NAME}: nothing was published to it yet.\n"
    assert invoke("publish", "--all").status == 0
    home.add_run("default-00000002")  # is not published, and no difference
    result = invoke("publish", "--verify")
    assert result.status == 0 and "1 was there" in result.out and "1 trial on" in result.out and "as here" in result.out
    before = ledger_path(run).read_bytes()
    spoil(deployment, run)
    there = deployment.everything()
    result = invoke("publish", "--verify", "--json")
    assert result.status == 4 and said in only_error(result.err)
    (found,) = json.loads(result.out)["runs"]
    assert found["trials"][0]["how"] == "failed" and said in found["trials"][0]["reason"]
    assert deployment.everything() == there and ledger_path(run).read_bytes() == before
    # What is not there can be asked for by name.
    assert "is not there" in only_error(invoke("publish", "--verify", "default-00000002").err)
    assert invoke("publish", "--verify", "--repair").status == 2


def test_a_run_is_taken_back_and_stays_away(
    deployment: Deployment, home: Home, proxy: FaultyProxy, invoke: Invoke
) -> None:
    run = home.add_run(RUN, {"000-fundamentals/000-answer": "pp", "000-fundamentals/001-other": "ff"})
    kept = home.add_run("default-00000002")
    assert invoke("publish", "--all").status == 0
    dry = invoke("unpublish", RUN, "--dry-run")
    assert dry.status == 0 and "2 would be withdrawn" in dry.out and "Nothing was deleted" in dry.out
    assert len(deployment.everything()["runs"]) == 3
    git(home.folder, "config", "user.name", "Test")
    git(home.folder, "config", "user.email", "test@example.org")
    result = invoke("unpublish", RUN, "--commit")
    assert result.status == 0 and "2 withdrawn" in result.out and "2 trials deleted from" in result.out, result.err
    assert git(home.folder, "log", "-1", "--format=%s") == f"chore(runs): unpublish {MODEL} default from {NAME}"
    assert ledger(run) == {1: ("withdrawn", None), 2: ("withdrawn", None)}
    check_published(deployment, kept)
    files = {each["status"]["outputStorageId"] for each in deployment.everything()["evals"]}
    sources = {each["storageId"] for each in deployment.everything()["assets"]}
    assert {file["_id"] for file in deployment.everything()["files"]} == files | sources
    for words in ((), ("--repair",)):
        assert invoke("publish", "--all", *words).status == 0
        check_published(deployment, kept)
    assert "2 was not there" in invoke("unpublish", RUN).out
    assert "2 sent" in invoke("publish", "--all", RUN).out
    check_published(deployment, run, kept)


@pytest.mark.parametrize("fault", Fault)
def test_a_withdrawal_is_finished_by_running_it_again(
    deployment: Deployment, home: Home, proxy: FaultyProxy, invoke: Invoke, fault: Fault
) -> None:
    run = home.add_run(RUN)
    assert invoke("publish", "--all").status == 0
    ledger_path(run).unlink()
    proxy.calls("admin:deleteRun", fault)
    first = invoke("unpublish", RUN)
    proxy.settle()
    proxy.faultless()
    assert first.status == 0 or "the same command resumes" in only_error(first.err)
    assert invoke("unpublish", RUN).status == 0
    there = deployment.everything()
    assert there["runs"] == there["evals"] == there["steps"] == []
    assert ledger(run) == {1: ("withdrawn", None)}


def test_the_run_of_somebody_else_is_not_taken_back(deployment: Deployment, home: Home, invoke: Invoke) -> None:
    run, other = home.add_run(RUN), home.add_run("default-00000002")
    assert invoke("publish", "--all").status == 0
    path = ledger_path(run)
    path.write_text(path.read_text().replace(str(ledger(run)[1][1]), str(ledger(other)[1][1])))
    assert invoke("unpublish", RUN).status == 0
    check_published(deployment, other)


def test_of_no_model_nothing_is_there(deployment: Deployment, home: Home, invoke: Invoke) -> None:
    run = home.add_run(RUN)
    assert "1 was not there" in invoke("unpublish", RUN).out
    assert ledger(run) == {1: ("withdrawn", None)}
    assert "published already" in invoke("publish", "--all").out
