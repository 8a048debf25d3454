"""Which benchmark version a run is sent as, and what is said of runs that are there as another."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convex_evals.store.run import Run
from tests.cli.test_benchmark import PLANS
from tests.conftest import Invoke
from tests.publish.deployed import Deployment
from tests.publish.faulty_proxy import FaultyProxy
from tests.publish.publications import OUTCOMES, TOKEN_ENV, Home, ledger_path, make_home, only_error

pytestmark = pytest.mark.grading

GUIDED, BARE = "default-00000001", "no_guidelines-00000002"
EVALS = dict(zip(OUTCOMES, PLANS.values(), strict=False))


@pytest.fixture
def home(proxy: FaultyProxy, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv(TOKEN_ENV, deployment.token)
    return make_home(tmp_path, proxy.url)


@pytest.fixture
def runs(home: Home) -> list[Run]:
    """One with guidelines, one without."""
    guided = home.add_run(GUIDED, evals=EVALS, guidelines_sha256="a" * 64)
    return [guided, home.add_run(BARE, evals=EVALS, experiment="no_guidelines")]


def versions(deployment: Deployment) -> set[str]:
    return {run["benchmarkVersion"] for run in deployment.everything()["runs"]}


def version_of(name: str, invoke: Invoke) -> str:
    return str(json.loads(invoke("benchmark", "show", name, "--json").out)["version"])


def sent_as(run: Run) -> list[str]:
    return [each["version"] for each in json.loads(ledger_path(run).read_text())["trials"]]


def test_all_experiments_are_sent_as_one_version(
    deployment: Deployment, home: Home, runs: list[Run], invoke: Invoke
) -> None:
    invoke("benchmark", "mint", "v1", "--from", GUIDED, "--from", BARE)
    version = version_of("v1", invoke)
    dry = invoke("publish", "--mint", "--dry-run")
    assert "v1, default: 1 model, 1 run, 0 published" in dry.err and "would be minted there: v1" in dry.err
    assert "in no score" not in dry.err
    assert dry.status == 0 and deployment.everything()["benchmarks"] == []
    sent = invoke("publish", "--mint")
    assert sent.status == 0 and "v1, no_guidelines: 1 model, 1 run, 0 published" in sent.err
    assert "minted there: v1" in sent.err and "in no score" not in sent.err
    assert versions(deployment) == {version} == {*sent_as(runs[0]), *sent_as(runs[1])}
    assert [each["version"] for each in deployment.everything()["benchmarks"]] == [version]
    assert invoke("publish").err == ""


def test_what_is_there_as_an_older_version_is_said_and_sent_again_if_asked(
    deployment: Deployment, home: Home, runs: list[Run], invoke: Invoke
) -> None:
    """Minting one more experiment takes no run out of the scores without a word."""
    invoke("benchmark", "mint", "v1", "--from", GUIDED)
    assert invoke("publish", "--mint").status == 0
    invoke("benchmark", "mint", "v2", "--from", GUIDED, "--from", BARE)
    first, second = version_of("v1", invoke), version_of("v2", invoke)
    shown = invoke("benchmark", "publish", "v2", "--dry-run")
    assert ": would be minted." in shown.out
    assert "v2, default: 1 model, 1 run, 0 published, 1 published under another version" in shown.err
    sent = invoke("publish", "--mint")
    older = f"1 run of v2 is there as v1: {GUIDED}; `cli publish --repair RUN` sends one again as v2"
    assert sent.status == 0 and older in sent.err
    assert sent_as(runs[0]) == [first] and sent_as(runs[1]) == [second]
    # Said again, though nothing is left to send; what is not named stays where it is.
    assert older in invoke("publish").err
    assert invoke("publish", "--repair").status == 0 and versions(deployment) == {first, second}
    assert invoke("publish", "--verify").status == 0
    named = invoke("publish", "--repair", GUIDED)
    assert named.status == 0 and "1 sent" in named.out and "is there as" not in named.err
    assert versions(deployment) == {second} and sent_as(runs[0]) == [second]


def test_a_run_that_was_sent_before_its_benchmark_had_a_name(
    deployment: Deployment, home: Home, runs: list[Run], invoke: Invoke
) -> None:
    assert invoke("publish", GUIDED).status == 0
    (own,) = versions(deployment)
    assert own == runs[0].benchmark
    invoke("benchmark", "mint", "v1", "--from", GUIDED)
    again = invoke("publish", GUIDED)
    assert f"1 run of v1 is there as {own[:8]}: {GUIDED}" in again.err and "in no score" not in again.err
    # Without its ledger, too.
    ledger_path(runs[0]).unlink()
    found = invoke("publish")
    assert found.status == 0 and "1 was there" in found.out and f"is there as {own[:8]}" in found.err
    assert sent_as(runs[0]) == [own]


def test_experiments_that_a_deployment_does_not_know(
    deployment: Deployment, home: Home, runs: list[Run], invoke: Invoke
) -> None:
    odd = home.add_run("odd-00000003", evals=EVALS, experiment="odd", guidelines_sha256="c" * 64)
    invoke("benchmark", "mint", "v1", "--from", odd.plan.run_id)
    alone = invoke("benchmark", "publish", "v1")
    assert alone.status == 1 and "it may not know the experiment 'odd'" in only_error(alone.err)
    assert deployment.everything()["benchmarks"] == []
    invoke("benchmark", "mint", "v2", "--from", GUIDED, "--from", odd.plan.run_id)
    both = invoke("benchmark", "publish", "v2", "--json")
    assert both.status == 0 and "warning: " in both.err and "it may not know the experiment 'odd'" in both.err
    result = json.loads(both.out)
    assert result["how"] == "minted" and result["version"] == version_of("v2", invoke)
    assert result["shown"][1] == "v2, odd: 1 model, 1 run, 0 published"
