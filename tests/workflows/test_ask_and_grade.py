"""periodic.yml and manual.yml as they stand: who asks, who grades, who writes, and with which secret."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from tests.conftest import ROOT
from tests.end_to_end.repositories import git
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import NO_FILES, Provider, serve
from tests.wire import question
from tests.workflows.hub import Hub, hosting
from tests.workflows.interruption import Interruption
from tests.workflows.runner import WorkflowRun, run_workflow

pytestmark = [
    pytest.mark.grading,
    pytest.mark.usefixtures("toolchain"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]

WORKFLOWS = ROOT / ".github" / "workflows"
ASKING = "OPENAI_API_KEY"
SECRETS = {ASKING: "planted-key-0123456789", "CONVEX_AUTH_TOKEN": "planted-token-0123456789"}


def models(url: str, output_price: int = 100) -> str:
    return "models:\n" + "".join(
        f"  - slug: stub/{name}\n    litellm: openai/{name}\n    base_url: {url}\n    key_env: {ASKING}\n"
        f"    price: {{input: 10, output: {output_price}}}\n    parameters: {{max_output_tokens: 100}}\n"
        for name in ("one", "two")
    )


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply=NO_FILES)) as provider:
        yield provider


@pytest.fixture
def clone(tmp_path: Path, stub: Provider) -> Path:
    """Four evals, two models; both are on the schedule under one experiment."""
    folder = tmp_path / "clone"
    for i in range(4):
        make_eval(folder, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    files = {
        "models.yaml": models(stub.url),
        "guidelines/convex.md": "Always answer.\n",
        "convex-evals.yaml": "schedule: {experiments: [default]}\n",
        ".gitignore": ".cache/\n",
        ".gitattributes": "runs/** -text\n",
    }
    return make_git_repo(write_files(folder, files))


@pytest.fixture
def hub(tmp_path: Path, clone: Path, stub: Provider) -> Iterator[Hub]:
    with hosting(tmp_path / "hub", clone, secrets=SECRETS, vars={"PERIODIC_BUDGET": "40"}) as hub:
        hub.machine["CONVEX_EVALS_SERVERS"] = stub.url
        yield hub


def periodic(hub: Hub, **more: Any) -> WorkflowRun:
    return run_workflow(hub, WORKFLOWS / "periodic.yml", hub.scheduled(), **more)


def manual(hub: Hub, **inputs: Any) -> WorkflowRun:
    return run_workflow(hub, WORKFLOWS / "manual.yml", hub.dispatched(**inputs))


def delivered(hub: Hub, tmp_path: Path) -> list[Run]:
    """The runs that are on the branch."""
    folder = tmp_path / "looked at" / hub.head()
    if not folder.exists():
        git(tmp_path, "clone", "-q", str(hub.repository), str(folder))
    return list(RunStore(folder / "runs").all())


def asked(stub: Provider) -> list[str]:
    """Models and tasks, each as often as it was asked."""
    return sorted(f"{body['model']} {question(body)}" for body in stub.requests)


def journal(workspace: Path) -> list[Path]:
    return list((workspace / ".cache" / "convex-evals" / "journal").rglob("*.json"))


EVERYTHING = [f"{model} Task {i}." for model in ("one", "two") for i in range(4)]


@pytest.mark.full
def test_what_is_due_is_asked_graded_and_delivered(hub: Hub, stub: Provider, tmp_path: Path) -> None:
    run = periodic(hub)
    assert run.result == "success", run.report()
    assert asked(stub) == EVERYTHING
    runs = delivered(hub, tmp_path)
    assert sorted(r.plan.model for r in runs) == ["stub/one", "stub/two"]
    assert all(r.is_complete and r.plan.fresh for r in runs)
    subjects = git(hub.repository, "log", "--format=%s", "main").splitlines()
    assert [s.partition(": ")[0] for s in subjects[:2]] == ["chore(runs)"] * 2 and "plan" in subjects[1]
    # Each job has what it needs, and no other secret.
    by_job = {job.path.rpartition("/")[2]: job for job in run.attempt.records.values()}
    assert set(by_job) == {"plan", "ask", "grade", "deliver"}
    assert by_job["ask"].secrets == {ASKING} and by_job["grade"].secrets == set()
    assert by_job["plan"].secrets == by_job["deliver"].secrets == {"GITHUB_TOKEN"}
    assert all(by_job[name].rights == {"contents": "read"} for name in ("ask", "grade"))
    keyed = [s.name for s in by_job["ask"].steps if ASKING in s.secrets]
    assert len(keyed) == 1, "the key is for the step that asks"
    assert "## Changes on the leaderboard" in run.summary and "| `stub/one` |" in run.summary
    assert "planted-" not in run.report()
    # A second time, nothing is due.
    before = hub.head()
    again = periodic(hub)
    assert again.result == "success", again.report()
    assert [record.path for record in again.attempt.records.values()] == ["due/plan"]
    assert hub.head() == before and len(stub.requests) == 8


def test_without_a_budget_nothing_starts(hub: Hub, stub: Provider) -> None:
    hub.vars.clear()
    run = periodic(hub)
    assert not run.attempt.records and not stub.requests


@pytest.mark.full
def test_shards_by_cost_and_one_of_them_lost(hub: Hub, clone: Path, stub: Provider, tmp_path: Path) -> None:
    """Its replies are asked for again when failed jobs are run again, and those of the others are not."""
    write_files(clone, {"models.yaml": models(stub.url, output_price=20_000)})
    git(clone, "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-qam", "Raise the price")
    hub.push(clone)
    hub.vars["PERIODIC_BUDGET"] = "400"
    killed = Interruption("due/ask", "Run read", lambda workspace: bool(stub.requests), matrix={"shard": 1})
    run = periodic(hub, interruption=killed)
    assert run.result == "failure"
    shards = [job.matrix["shard"] for job in run.jobs("due/ask")]
    assert shards == [1, 2]
    runs = delivered(hub, tmp_path)
    assert [len(summary.missing) for r in runs if (summary := r.summary())] == [2, 2]
    again = run.rerun_failed()
    assert again.result == "success", again.report()
    assert all(r.is_complete for r in delivered(hub, tmp_path))
    counts = {line: asked(stub).count(line) for line in EVERYTHING}
    others = [line for line in EVERYTHING if line.endswith(("Task 1.", "Task 3."))]
    assert all(counts[line] == 1 for line in others), counts


@pytest.mark.full
def test_cancelled_while_it_asks_nothing_is_paid_twice(hub: Hub, stub: Provider, tmp_path: Path) -> None:
    """Somebody cancels; what had arrived is an artifact, and the next attempt begins with it."""
    stub.behave = lambda n, body: "hang" if n >= 4 else "ok"
    journalled = Interruption("due/ask", "Run read", lambda workspace: len(journal(workspace)) >= 4, lost=False)
    run = periodic(hub, interruption=journalled)
    assert run.results["due"] == "cancelled"
    stub.behave = lambda n, body: "ok"
    before = list(stub.finished)
    again = run.rerun_failed()
    assert again.result == "success", again.report()
    assert all(r.is_complete for r in delivered(hub, tmp_path))
    assert len(stub.finished) == 8 and stub.finished[: len(before)] == before


@pytest.mark.full
def test_a_budget_that_is_used_up(hub: Hub, stub: Provider, tmp_path: Path) -> None:
    """What was asked is graded and delivered, the jobs say what is missing, and the rest can be completed."""
    # A reply costs up to a cent, and so does a connection that breaks: what the first four cost twice is missing.
    hub.vars["PERIODIC_BUDGET"] = "0.085"
    stub.behave = lambda n, body: "cut" if n < 4 else "ok"
    run = periodic(hub)
    assert run.results == {"due": "failure", "pages": "skipped"}
    assert run.job("due/ask").result == "failure" and "(earlier spending counts)" in run.report()
    # Who asks and who sums up say so by their exit codes, after they have done what can be done.
    assert (run.job("due/grade").result, run.job("due/deliver").result) == ("success", "failure"), run.report()
    assert "incomplete: 1 of 4 trials has no verdict" in run.report()
    summaries = [r.summary() for r in delivered(hub, tmp_path)]
    scored = sum(summary.counts.scored for summary in summaries if summary)
    assert 0 < scored < 8 and scored == len(stub.finished)
    assert "Complete it: cli run --run" in run.summary.replace("`", "")


@pytest.mark.full
def test_chosen_by_hand_and_published_where_it_is_said(hub: Hub, stub: Provider, tmp_path: Path) -> None:
    run = manual(hub, models="stub/one,stub/two", experiment="no_guidelines", filter="00[12]-eval", trials="2")
    assert run.result == "success", run.report()
    runs = delivered(hub, tmp_path)
    assert {(r.plan.model, r.plan.experiment, len(r.plan.evals), r.plan.trials) for r in runs} == {
        ("stub/one", "no_guidelines", 2, 2),
        ("stub/two", "no_guidelines", 2, 2),
    }
    assert run.results["pages"] == "skipped" and not run.jobs("chosen/publish")
    # The same once more: it is done.
    again = manual(hub, models="stub/one,stub/two", experiment="no_guidelines", filter="00[12]-eval", trials="2")
    assert again.result == "success" and len(stub.requests) == 8


@pytest.mark.full
def test_two_at_the_same_time_follow_each_other(hub: Hub, stub: Provider, tmp_path: Path) -> None:
    found: dict[str, WorkflowRun] = {}
    threads = [
        threading.Thread(target=lambda: found.update(periodic=periodic(hub))),
        threading.Thread(target=lambda: found.update(manual=manual(hub, models="stub/one", fresh=True))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {run.result for run in found.values()} == {"success"}, [run.report() for run in found.values()]
    runs = delivered(hub, tmp_path)
    assert all(r.is_complete for r in runs)
    # Whichever came first, what it asked counts as the attempt of its model.
    assert len(stub.requests) in (8, 12) and {r.plan.model for r in runs} == {"stub/one", "stub/two"}


def test_the_choices_are_the_models_that_ship() -> None:
    import yaml

    from convex_evals.config import ProjectConfig
    from convex_evals.models.catalog import shipped_models

    workflow = yaml.load((WORKFLOWS / "manual.yml").read_text(), Loader=yaml.BaseLoader)
    inputs = workflow["on"]["workflow_dispatch"]["inputs"]
    assert inputs["model"]["options"] == ["none", *(entry.slug for entry in shipped_models())]
    names = list(ProjectConfig().experiments)
    assert inputs["experiment"]["options"] == [*names, "all of these"]
    assert f"&& '{','.join(names)}' ||" in (WORKFLOWS / "manual.yml").read_text()
