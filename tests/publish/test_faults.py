"""Publishing is finished by running it again, whatever became of requests and of itself in between.

The invariant is `check_published`: each trial is there exactly once and complete, and nothing else is.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.store.run import Run
from tests import patience, tier
from tests.conftest import Invoke
from tests.publish.deployed import APP, LEADERBOARD, Deployment
from tests.publish.faulty_proxy import Fault, FaultyProxy
from tests.publish.publications import TOKEN_ENV, Home, check_published, ledger, ledger_path, make_home

# The strictest deployment there may be, and our own: what is published is the same, whatever is lost on the way.
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

MOST_COMMANDS = 5
FIRST_RUN = "default-00000001"


@pytest.fixture
def home(proxy: FaultyProxy, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    return make_home(tmp_path, proxy.url)


@pytest.fixture
def publish(invoke: Invoke, proxy: FaultyProxy) -> Callable[[], str]:
    """Run the publisher until it exits with 0; all that it said. What is late has arrived then."""

    def until_done() -> str:
        said = ""
        for _ in range(MOST_COMMANDS):
            result = invoke("publish", "--all")
            said += result.out + result.err
            assert result.status in (0, 1), said
            proxy.settle()
            if result.status == 0:
                return said
        raise AssertionError(f"not finished by {MOST_COMMANDS} commands:\n{said}")

    return until_done


def calls_of_a_run(deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str]) -> int:
    """How many requests it takes to publish one of `home`'s runs; nothing is there afterwards."""
    run = home.add_run("default-00000000")
    proxy.faultless()
    publish()
    check_published(deployment, run)
    deployment.clear()
    for path in run.folder.rglob("*"):
        if path.is_file():
            path.unlink()
    home.commit()
    return len(proxy.passed)


def test_faultless(deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str]) -> None:
    evals = {"000-fundamentals/000-answer": "pfu", "000-fundamentals/001-other": "fup"}
    run = home.add_run(FIRST_RUN, evals, experiment="web_search")
    publish()
    check_published(deployment, run)
    there = deployment.everything()
    assert len(there["assets"]) == len(evals)  # one source each, for all trials
    sent = len(proxy.passed)
    publish()
    check_published(deployment, run)
    assert not [each for each in proxy.passed[sent:] if each.function in ("admin:startRun", "admin:startEval")]


@pytest.mark.full
def test_the_invariant_is_seen_to_be_broken(deployment: Deployment, home: Home, publish: Callable[[], str]) -> None:
    run = home.add_run(FIRST_RUN)
    for tamper in (_add_a_run, _add_an_eval, _add_a_step, _delete_the_run):
        publish()
        check_published(deployment, run)
        tamper(deployment)
        with pytest.raises(AssertionError):
            check_published(deployment, run)
        deployment.clear()
        ledger_path(run).unlink()


def _add_a_run(deployment: Deployment) -> None:
    deployment.administrate("inspect:copy", table="runs")


def _add_an_eval(deployment: Deployment) -> None:
    deployment.administrate("inspect:copy", table="evals")


def _add_a_step(deployment: Deployment) -> None:
    deployment.administrate("inspect:copy", table="steps")


def _delete_the_run(deployment: Deployment) -> None:
    deployment.mutation("deleteRun", runId=deployment.everything()["runs"][0]["_id"])


@pytest.mark.parametrize(
    "fault", [pytest.param(each, marks=() if each is Fault.CUT_AFTER else pytest.mark.full) for each in Fault]
)
def test_one_fault_at_each_call(
    deployment: Deployment,
    home: Home,
    proxy: FaultyProxy,
    publish: Callable[[], str],
    fault: Fault,
) -> None:
    """All calls with --soak, a sample of them otherwise."""
    calls = calls_of_a_run(deployment, home, proxy, publish)
    at_each = range(1, calls + 1)
    step = 1 if tier.is_soak else 18
    # The deployments and the faults start at different calls, and so does each commit.
    first = tier.seed() + list(Fault).index(fault) + (deployment.app == LEADERBOARD)
    for number in at_each[first % step :: step]:
        run = home.add_run(f"default-{number:08}")
        proxy.nth(number, fault)
        said = publish()
        try:
            check_published(deployment, run)
        except AssertionError as error:
            at = proxy.passed[number - 1]
            raise AssertionError(f"{fault} at call {number}, {at.function or at.path}:\n{said}") from error
        forget(deployment, run, home)


def forget(deployment: Deployment, run: Run, home: Home) -> None:
    deployment.clear()
    for path in sorted(run.folder.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    home.commit()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in tier.seeds(30)[1:])])
def test_many_faults(
    deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str], seed: int
) -> None:
    runs = [home.add_run(FIRST_RUN), home.add_run("web_search-00000002", experiment="web_search")]
    proxy.seeded(seed, 0.1)
    publish()
    proxy.faultless()
    publish()
    check_published(deployment, *runs)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in tier.seeds(50)[1:])])
def test_killed_at_a_random_moment(
    deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str], seed: int
) -> None:
    """Twice in a row; the request at which it dies may arrive or not."""
    run = home.add_run(FIRST_RUN, {"000-fundamentals/000-answer": "pf", "000-fundamentals/001-other": "fu"})
    rng = random.Random(seed)
    for _ in range(2):
        process = home.start(deployment.token)
        at, after, fault = rng.randint(1, 70), rng.uniform(0, 0.03), rng.choice([None, Fault.CUT_AFTER, Fault.DELAY])

        def choose(number: int, _asked: str) -> Fault | None:
            if number != at:  # noqa: B023 called before the next round
                return None
            threading.Timer(after, os.kill, (process.pid, signal.SIGKILL)).start()  # noqa: B023
            return fault  # noqa: B023

        proxy.plan(choose)
        out, err = process.communicate(timeout=patience.seconds(120))
        assert process.returncode in (0, -signal.SIGKILL), out + err
    proxy.faultless()
    publish()
    check_published(deployment, run)


@pytest.mark.parametrize("state", ["starting", "started", "published"])
def test_the_ledger_is_lost(
    deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str], invoke: Invoke, state: str
) -> None:
    """Once nothing, once half of a run, once all of it is there."""
    run = home.add_run(FIRST_RUN)
    stop_at = {"starting": "admin:startRun", "started": "admin:completeEval", "published": "never"}[state]
    proxy.plan(lambda _, asked: Fault.CUT_AFTER if asked == stop_at else None)
    if stop_at != "never":
        process = home.start(deployment.token)

        def kill(_number: int, asked: str) -> Fault | None:
            if asked == stop_at:
                os.kill(process.pid, signal.SIGKILL)
            return None

        proxy.plan(kill)
        process.communicate(timeout=patience.seconds(120))
    else:
        publish()
    ledger_path(run).unlink()
    proxy.faultless()
    publish()
    check_published(deployment, run)


def test_two_publishers_at_once(
    deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str]
) -> None:
    run = home.add_run(FIRST_RUN)
    proxy.delay_seconds = 0.1
    proxy.plan(lambda *_: Fault.DELAY)
    processes = [home.start(deployment.token) for _ in range(3)]
    said = [process.communicate(timeout=patience.seconds(120))[1] for process in processes]
    statuses = sorted(process.returncode for process in processes)
    assert statuses == [0, 1, 1], said
    (first,) = [process.pid for process in processes if process.returncode == 0]
    for process, err in zip(processes, said, strict=True):
        if process.returncode == 1:
            assert str(first) in err and len(err.strip().splitlines()) == 1, err
    proxy.faultless()
    publish()
    check_published(deployment, run)


@pytest.mark.parametrize("lost", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_cron_failed_the_run_in_between(
    deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str], lost: bool
) -> None:
    run = home.add_run(FIRST_RUN)
    process = home.start(deployment.token)

    def kill(_number: int, asked: str) -> Fault | None:
        if asked == "admin:recordStep":
            os.kill(process.pid, signal.SIGKILL)
        return None

    proxy.plan(kill)
    process.communicate(timeout=patience.seconds(120))
    assert {state for state, _ in ledger(run).values()} == {"started"}
    deployment.fail_unfinished()
    if lost:
        ledger_path(run).unlink()
    proxy.faultless()
    publish()
    check_published(deployment, run)


@pytest.mark.full
def test_more_newer_runs_than_are_listed(
    deployment: Deployment, home: Home, proxy: FaultyProxy, publish: Callable[[], str], invoke: Invoke
) -> None:
    run = home.add_run(FIRST_RUN)
    publish()
    written = ledger_path(run).read_bytes()
    (model,) = deployment.everything()["models"]
    for n in range(41):
        arguments = {"modelId": model["_id"], "provider": "acme", "plannedEvals": [], "runId": f"other-{n:08}/1"}
        other = deployment.mutation("startRun", **arguments)
        deployment.mutation("completeRun", runId=other, status={"kind": "completed", "durationMs": 1})
    before = deployment.everything()
    assert invoke("publish", "--all").status == 0  # the ledger knows where it is
    ledger_path(run).unlink()
    refused = invoke("publish", "--all")
    assert refused.status == 1 and "Git" in refused.err
    assert deployment.everything() == before
    ledger_path(run).write_bytes(written)
    assert invoke("publish", "--all").status == 0
    assert deployment.everything() == before


def test_a_contradiction_between_ledger_and_deployment(
    deployment: Deployment, home: Home, publish: Callable[[], str], invoke: Invoke
) -> None:
    """What the ledger says is published was deleted there: said, and sent again with --repair only."""
    run = home.add_run(FIRST_RUN)
    publish()
    deployment.mutation("deleteRun", runId=ledger(run)[1][1])
    refused = invoke("publish", "--all", run.folder)
    assert refused.status == 1 and "--repair" in refused.err
    assert deployment.everything()["runs"] == []
    repaired = invoke("publish", "--all", "--repair", run.folder)
    assert repaired.status == 0, repaired.err
    check_published(deployment, run)


@pytest.mark.full
def test_production_tells_nothing_of_errors(
    deployment: Deployment,
    home: Home,
    proxy: FaultyProxy,
    publish: Callable[[], str],
    invoke: Invoke,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = home.add_run(FIRST_RUN)
    proxy.redacts = True
    monkeypatch.setenv(TOKEN_ENV, "a-wrong-token")
    refused = invoke("publish", "--all", run.folder)
    assert refused.status == 1 and "token" in refused.err and "a-wrong-token" not in refused.out + refused.err
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    proxy.seeded(1, 0.1)
    publish()
    proxy.faultless()
    publish()
    check_published(deployment, run)
    assert deployment.token not in json.dumps(ledger(run))
