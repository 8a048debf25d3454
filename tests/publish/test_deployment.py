"""The deployment that publishing is tested against answers as the leaderboard's API says."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from convex_evals.grading.toolchain import locate_toolchain
from tests.publish.deployed import APP, Deployment, RefusedError

# Of what the tests of publishing stand on, which seldom changes.
pytestmark = [pytest.mark.grading, pytest.mark.full]

EVAL = "000-fundamentals/000-answer"
MUTATIONS: dict[str, dict[str, Any]] = {
    "ensureModelFromSlug": {"slug": "acme/m", "formattedName": "M"},
    "startRun": {"modelId": "x", "provider": "acme", "plannedEvals": []},
    "startEval": {"runId": "x", "evalPath": EVAL, "category": "a", "name": "b"},
    "recordStep": {"evalId": "x", "name": "tsc", "status": {"kind": "skipped"}},
    "updateEvalOutput": {"evalId": "x", "outputStorageId": "x"},
    "completeEval": {"evalId": "x", "status": {"kind": "passed", "durationMs": 1}},
    "completeRun": {"runId": "x", "status": {"kind": "completed", "durationMs": 1}},
    "deleteRun": {"runId": "x"},
    "checkAssetHash": {"hash": "x"},
    "registerAsset": {"hash": "x", "assetType": "output", "storageId": "x"},
    "generateUploadUrl": {},
    "mintBenchmark": {"version": "v", "evalCount": 1, "curatedModels": []},
}


def make_model(deployment: Deployment) -> str:
    return str(deployment.mutation("ensureModelFromSlug", slug="acme/m", formattedName="M", provider="acme"))


def start_run(deployment: Deployment, **more: Any) -> str:
    planned = {"modelId": make_model(deployment), "provider": "acme", "runId": "r/1", "plannedEvals": [EVAL]}
    return str(deployment.mutation("startRun", **{**planned, **more}))


def start_eval(deployment: Deployment, run: str, **more: Any) -> str:
    category, _, name = EVAL.partition("/")
    return str(deployment.mutation("startEval", runId=run, evalPath=EVAL, category=category, name=name, **more))


def upload(deployment: Deployment, content: bytes) -> str:
    url = deployment.mutation("generateUploadUrl")
    answer = httpx.post(url, content=content, headers={"content-type": "application/zip"}, trust_env=False)
    return str(answer.raise_for_status().json()["storageId"])


def test_a_run_from_its_start_to_its_completion(deployment: Deployment) -> None:
    run = start_run(deployment, benchmarkVersion="v1", experiment="agents_md")
    started = start_eval(deployment, run, task="t", evalSourceStorageId=upload(deployment, b"source"))
    steps = {"tsc": {"kind": "passed", "durationMs": 1}, "tests": {"kind": "skipped"}, "eslint": {"kind": "running"}}
    for name, status in steps.items():
        deployment.mutation("recordStep", evalId=started, name=name, status=status)
    output = upload(deployment, b"output")
    (listed,) = deployment.query("runs:listRuns")
    assert listed["evalCounts"] == {"total": 1, "passed": 0, "failed": 0, "pending": 1}
    deployment.mutation("updateEvalOutput", evalId=started, outputStorageId=output)
    usage = {"inputTokens": 3, "outputTokenDetails": {"reasoningTokens": 1}, "raw": {"cost": 0.5}}
    status = {"kind": "failed", "failureReason": "tests", "durationMs": 4, "outputStorageId": output, "usage": usage}
    assert deployment.mutation("completeEval", evalId=started, status=status) is None
    completed = {"kind": "completed", "durationMs": 9, "usage": usage}
    assert deployment.mutation("completeRun", runId=run, status=completed) is None

    details = deployment.query("runs:getRunDetails", runId=run)
    assert details["runId"] == "r/1" and details["status"] == completed and details["benchmarkVersion"] == "v1"
    (found,) = details["evals"]
    assert found["_id"] == started and found["evalPath"] == EVAL and found["status"] == status
    assert {step["name"]: step["status"] for step in found["steps"]} == steps
    assert deployment.download(output) == b"output"
    (listed,) = deployment.query("runs:listRuns", experiment="agents_md", modelId=details["modelId"], limit=1)
    assert listed["_id"] == run and listed["model"] == "acme/m" and listed["formattedName"] == "M"
    assert listed["evalCounts"] == {"total": 1, "passed": 0, "failed": 1, "pending": 0}
    (experiment,) = deployment.query("runs:listExperiments")
    assert experiment["name"] == "agents_md" and experiment["completedRuns"] == experiment["totalEvals"] == 1
    assert experiment["models"] == ["acme/m"] and experiment["modelIds"] == [details["modelId"]]


def test_a_model_is_there_once_and_runs_and_evals_and_steps_as_often_as_they_are_sent(deployment: Deployment) -> None:
    model = make_model(deployment)
    assert make_model(deployment) == model
    page = deployment.query("models:listModels", paginationOpts={"numItems": 10, "cursor": None})
    assert page["isDone"] and [m["slug"] for m in page["page"]] == ["acme/m"]
    assert deployment.query("models:getBySlug", slug="acme/m")["_id"] == model
    assert deployment.query("models:getBySlug", slug="acme/other") is None
    run, other = start_run(deployment), start_run(deployment)
    first, last = start_eval(deployment, run), start_eval(deployment, run)
    assert run != other and first != last
    for _ in range(2):
        deployment.mutation("recordStep", evalId=last, name="tsc", status={"kind": "skipped"})
    assert len(deployment.everything()["steps"]) == 2
    assert [each["_id"] for each in deployment.query("runs:listRuns")] == [other, run]


def test_what_is_finished_is_not_finished_again(deployment: Deployment) -> None:
    run = start_run(deployment)
    started = start_eval(deployment, run)
    evals = {"evalId": started, "status": {"kind": "passed", "durationMs": 1}}
    deployment.mutation("completeEval", **evals)
    with pytest.raises(RefusedError, match="Eval is already passed"):
        deployment.mutation("completeEval", **evals)
    runs = {"runId": run, "status": {"kind": "completed", "durationMs": 1}}
    deployment.mutation("completeRun", **runs)
    with pytest.raises(RefusedError, match="Run is already completed"):
        deployment.mutation("completeRun", **runs)


def test_a_deleted_run_takes_its_evals_and_steps_along(deployment: Deployment) -> None:
    run, kept = start_run(deployment), start_run(deployment)
    started = start_eval(deployment, run)
    deployment.mutation("recordStep", evalId=started, name="tsc", status={"kind": "skipped"})
    deployment.mutation("deleteRun", runId=run)
    there = deployment.everything()
    assert [each["_id"] for each in there["runs"]] == [kept] and there["evals"] == there["steps"] == []
    assert deployment.query("runs:getRunDetails", runId=run) is None
    of_run: dict[str, dict[str, Any]] = {
        "deleteRun": {"runId": run},
        "completeRun": {"runId": run, "status": {"kind": "completed", "durationMs": 1}},
        "startEval": {"runId": run, "evalPath": EVAL, "category": "000-fundamentals", "name": "000-answer"},
    }
    for call, args in of_run.items():
        with pytest.raises(RefusedError, match="Run not found"):
            deployment.mutation(call, **args)
    of_eval: dict[str, dict[str, Any]] = {
        "recordStep": {"evalId": started, "name": "tsc", "status": {"kind": "skipped"}},
        "completeEval": {"evalId": started, "status": {"kind": "passed", "durationMs": 1}},
    }
    for call, args in of_eval.items():
        with pytest.raises(RefusedError, match="Eval not found"):
            deployment.mutation(call, **args)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_wrong_token_changes_nothing(deployment: Deployment, name: str) -> None:
    run = start_run(deployment)
    started, stored = start_eval(deployment, run), upload(deployment, b"")
    ids = {"runId": run, "evalId": started, "modelId": make_model(deployment)}
    ids |= {"storageId": stored, "outputStorageId": stored}
    args = {key: ids.get(key, value) for key, value in MUTATIONS[name].items()}
    before = deployment.everything()
    with pytest.raises(RefusedError, match="Invalid authentication token"):
        deployment.mutation(name, **args, token="wrong")
    with pytest.raises(RefusedError, match="ArgumentValidationError"):
        deployment.mutation(name, **args, surplus=1)
    assert deployment.everything() == before


@pytest.mark.parametrize(
    "more", [{"experiment": "default"}, {"experiment": None}, {"benchmarkVersion": None}, {"runId": 1}]
)
def test_arguments_of_a_run_are_exact(deployment: Deployment, more: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match="ArgumentValidationError"):
        start_run(deployment, **more)
    assert deployment.everything()["runs"] == []


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ("completeEval", {"kind": "failed", "durationMs": 1}),
        ("completeEval", {"kind": "passed", "durationMs": 1, "failureReason": "x"}),
        ("completeEval", {"kind": "passed", "durationMs": 1, "usage": {"cost": 1}}),
        ("completeEval", {"kind": "passed", "durationMs": 1, "outputStorageId": None}),
        ("recordStep", {"kind": "skipped", "durationMs": 1}),
        ("recordStep", {"kind": "unscored", "durationMs": 1}),
        ("recordStep", {"kind": "passed"}),
    ],
)
def test_statuses_are_exact(deployment: Deployment, call: str, status: dict[str, Any]) -> None:
    started = start_eval(deployment, start_run(deployment))
    step = {"name": "tsc"} if call == "recordStep" else {}
    with pytest.raises(RefusedError, match="ArgumentValidationError"):
        deployment.mutation(call, evalId=started, status=status, **step)


def test_evals_that_are_not_planned_are_refused(deployment: Deployment) -> None:
    run = start_run(deployment)
    for path, category, name in (("a/b", "a", "b"), (EVAL, "a", "b")):
        with pytest.raises(RefusedError, match=r"planned|category/name"):
            deployment.mutation("startEval", runId=run, evalPath=path, category=category, name=name)


def test_sources_are_found_by_their_hash(deployment: Deployment) -> None:
    assert deployment.mutation("checkAssetHash", hash="h") == {"exists": False, "storageId": None}
    stored = upload(deployment, b"zip")
    assert deployment.mutation("registerAsset", hash="h", assetType="evalSource", storageId=stored)
    assert deployment.mutation("checkAssetHash", hash="h") == {"exists": True, "storageId": stored}


def test_forty_runs_are_listed_and_those_of_other_models_and_experiments_left_out(deployment: Deployment) -> None:
    model = make_model(deployment)
    other = deployment.mutation("ensureModelFromSlug", slug="acme/n", formattedName="N")
    first = start_run(deployment, modelId=other, experiment="web_search")
    runs = [start_run(deployment, modelId=model, runId=f"r/{n}") for n in range(42)]
    listed = deployment.query("runs:listRuns", limit=100)
    assert [each["_id"] for each in listed] == runs[:1:-1]
    for chosen in ({"modelId": other}, {"experiment": "web_search"}):
        assert [each["_id"] for each in deployment.query("runs:listRuns", **chosen)] == [first]
    assert deployment.query("runs:listRuns", modelId=model, experiment="web_search") == []
    with pytest.raises(RefusedError, match="ArgumentValidationError"):
        deployment.query("runs:listRuns", experiment="unknown")


def test_unfinished_runs_fail_after_three_hours(deployment: Deployment) -> None:
    run = start_run(deployment)
    start_eval(deployment, run)
    deployment.administrate("runs:failUnfinished")
    assert deployment.query("runs:getRunDetails", runId=run)["status"] == {"kind": "running"}
    deployment.fail_unfinished()
    details = deployment.query("runs:getRunDetails", runId=run)
    assert {details["status"]["kind"], details["evals"][0]["status"]["kind"]} == {"failed"}


def test_internal_functions_are_not_for_the_public(deployment: Deployment) -> None:
    with pytest.raises(RefusedError, match="Could not find public function"):
        deployment.query("inspect:everything")
    assert deployment.mutation("mintBenchmark", version="v", evalCount=1, curatedModels=["acme/m"]) is None
    assert deployment.everything()["benchmarks"][0]["version"] == "v"


def test_its_types_and_its_format_are_right(deployment: Deployment, toolchain: Path) -> None:
    located = locate_toolchain(toolchain)
    for words in (
        ("typescript/bin/tsc", "-p", deployment.project),
        ("prettier/bin/prettier.cjs", "--check", "--print-width=120", APP),
    ):
        argv = [located.node.executable, located.node_modules / words[0], *words[1:]]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
