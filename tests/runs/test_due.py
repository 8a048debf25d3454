"""`cli due` and `cli run --due`: decided from files, asked in the order of need, within a budget."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from convex_evals.records.benchmark import BenchmarkExperiment, BenchmarkHead, benchmark_id
from convex_evals.runs.costs import Estimate
from convex_evals.runs.schedule import Wanted
from convex_evals.runs.shard import shards_for
from tests.commands import command
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, make_plan, write_files
from tests.provider import Provider, serve

NO_FILES = "There is nothing to write.\n"
CONFIG = """schedule:
  models: [stub/one, stub/two, tag:extra]
  experiments: [default]
  curated: [stub/two]
"""


def models(url: str) -> str:
    names = (("one", "2026-01-01", ""), ("two", "2026-11-01", ""), ("three", "2026-11-20", "tags: [extra]"))
    return "models:\n" + "".join(
        f"  - slug: stub/{name}\n    litellm: openai/{name}\n    base_url: {url}\n    key_env: STUB_KEY\n"
        f"    price: {{input: 10, output: 100}}\n    parameters: {{max_output_tokens: 100}}\n"
        f"    first_seen: {day}\n    {tags}\n"
        for name, day, tags in names
    )


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply=NO_FILES)) as provider:
        yield provider


@pytest.fixture
def suite(tmp_path: Path, stub: Provider) -> Path:
    for i in range(2):
        make_eval(tmp_path, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    files = {
        "models.yaml": models(stub.url),
        "convex-evals.yaml": CONFIG,
        "guidelines/convex.md": "Always answer.\n",
        ".env": "STUB_KEY=planted-secret-0123456789",
        ".gitignore": ".env\n.cache\n",
    }
    return write_files(tmp_path, files)


def due(invoke: Invoke, suite: Path, *arguments: str) -> list[dict[str, Any]]:
    result = invoke("due", "--json", *arguments, cwd=suite)
    assert result.status == 0, result.err
    found = json.loads(result.out)
    assert isinstance(found, list)
    return found


def asked_of(stub: Provider) -> list[str]:
    return [str(body["model"]) for body in stub.requests]


def test_nothing_was_run_yet(invoke: Invoke, suite: Path) -> None:
    found = due(invoke, suite, "--now", "2026-11-25")
    assert [(d["model"], d["last_attempt"]) for d in found] == [
        ("stub/three", None),
        ("stub/two", None),
        ("stub/one", None),
    ]


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_what_is_due_is_run_once_in_the_order_of_need(invoke: Invoke, suite: Path, stub: Provider) -> None:
    done = command(suite, "run", "--due", "--budget", "40", "--json")
    assert done.returncode == 0, done.stderr
    assert asked_of(stub) == ["three"] * 2 + ["two"] * 2 + ["one"] * 2
    assert [row["model"] for row in json.loads(done.stdout)] == ["stub/three", "stub/two", "stub/one"]
    again = command(suite, "run", "--due", "--budget", "40", "--json")
    assert (again.returncode, json.loads(again.stdout)) == (0, []) and "nothing is due" in again.stderr
    assert len(stub.requests) == 6
    assert due(invoke, suite) == []


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_new_guidelines_make_curated_models_due(invoke: Invoke, suite: Path) -> None:
    assert command(suite, "run", "--due").returncode == 0
    write_files(suite, {"guidelines/convex.md": "Never answer.\n"})
    [found] = due(invoke, suite)
    assert found["model"] == "stub/two" and found["changes"][0].startswith("the guidelines have changed to ")
    shown = invoke("due", "--why", cwd=suite)
    assert "the guidelines have changed to " in shown.out


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_a_run_of_a_part_is_no_attempt(invoke: Invoke, suite: Path) -> None:
    for i in range(2, 6):
        make_eval(suite, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    assert command(suite, "run", "-m", "stub/one", "-f", "001-eval").returncode == 0
    assert [d["model"] for d in due(invoke, suite)] == ["stub/three", "stub/two", "stub/one"]


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_the_budget_passes_over_what_is_too_expensive(invoke: Invoke, suite: Path, stub: Provider) -> None:
    done = command(suite, "run", "--due", "--budget", "0.5", "--dry-run", "--json")
    costs = {row["model"]: row["usual_usd"] for row in json.loads(done.stdout)}
    assert set(costs) == {"stub/one", "stub/two", "stub/three"}
    least = min(costs.values())
    done = command(suite, "run", "--due", "--budget", str(least * 1.5), "--dry-run", "--json")
    assert [row["model"] for row in json.loads(done.stdout)] == ["stub/three"]
    assert done.stderr.count("due, costs about $") == 2
    assert not stub.requests


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_a_failed_attempt_is_committed_and_counts(invoke: Invoke, suite: Path, stub: Provider) -> None:
    make_git_repo(suite)
    for name, value in (("user.name", "Test"), ("user.email", "test@example.org")):
        subprocess.run(["git", "config", name, value], cwd=suite, check=True)
    stub.behave = lambda n, body: "context"
    done = command(suite, "run", "--due", "--budget", "40", "--commit")
    assert "Committed to" in done.stdout + done.stderr, done.stderr
    log = subprocess.run(["git", "log", "--format=%s"], cwd=suite, capture_output=True, text=True, check=True).stdout
    assert "chore(runs): plan" in log
    assert due(invoke, suite) == []


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_what_is_due_is_planned_for_jobs(invoke: Invoke, suite: Path, stub: Provider) -> None:
    done = command(suite, "plan", "--due", "--budget", "40", "--outputs", "outputs", "--json")
    assert done.returncode == 0, done.stderr
    planned = json.loads(done.stdout)
    assert [row["model"] for row in planned] == ["stub/three", "stub/two", "stub/one"]
    ids = " ".join(row["run_id"] for row in planned)
    assert (suite / "outputs").read_text() == f"runs={ids}\nshards=[1]\n"
    # A plan is an attempt: the same is not planned a second time.
    again = command(suite, "plan", "--due", "--outputs", "outputs")
    assert "nothing is due" in again.stderr
    assert (suite / "outputs").read_text().endswith("runs=\nshards=[1]\n")
    asked = command(suite, "run", *(f"--run={row['run_id']}" for row in planned), "--only", "ask", "--shard", "1/1")
    assert asked.returncode == 0 and len(stub.requests) == 6, asked.stderr


@pytest.mark.parametrize(
    ("calls", "usd", "most", "shards"),
    [(0, None, 8, 1), (100, 10.0, 8, 1), (101, 1.0, 8, 2), (10, 45.0, 8, 5), (10_000, 1.0, 8, 8), (350, None, 2, 2)],
)
def test_shards_by_what_they_are_worth(calls: int, usd: float | None, most: int, shards: int) -> None:
    assert shards_for(Estimate(calls, 0, usd, usd), most) == shards


def test_a_plan_of_named_models_has_no_budget(invoke: Invoke, suite: Path) -> None:
    result = invoke("plan", "-m", "stub/one", "--budget", "3", cwd=suite)
    assert result.status == 2 and "--budget chooses among what is due" in result.err


@pytest.mark.parametrize(
    ("day", "is_same", "changes"),
    [
        ("2026-11-25", False, ("benchmark v2 was minted (2026-11-25)",)),
        ("2026-11-20", False, ("benchmark v2 was minted (2026-11-20)",)),
        ("2026-11-19", False, ()),
        ("2026-11-25", True, ()),
    ],
)
def test_a_benchmark_that_was_minted_since(day: str, is_same: bool, changes: tuple[str, ...]) -> None:
    newest = make_plan(date="2026-11-20")
    own = {"id": benchmark_id(newest) if is_same else "f" * 64}
    asked = BenchmarkExperiment.model_construct(**own)  # type: ignore[arg-type]
    known = {"name": "v2", "date": day, "experiments": {"default": asked}}
    head = BenchmarkHead.model_construct(**known)  # type: ignore[arg-type]
    assert Wanted(newest.guidelines_sha256, head).changes(newest) == changes


def test_settings_that_name_nothing(invoke: Invoke, suite: Path) -> None:
    write_files(suite, {"convex-evals.yaml": "schedule: {models: [stub/four]}\n"})
    result = invoke("due", cwd=suite)
    assert result.status == 1
    assert result.err.strip() == (
        "error: convex-evals.yaml: schedule.models: no model stub/four; `cli models list` shows what is there"
    )
    write_files(suite, {"convex-evals.yaml": "schedule: {models: [four]}\n"})
    result = invoke("due", cwd=suite)
    assert result.status == 1 and result.err.count("\n") == 1 and "neither a slug" in result.err


def test_the_schedule_of_others_is_not_read(
    invoke: Invoke, suite: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    result = invoke("-C", suite, "due", cwd=tmp_path_factory.mktemp("own"))
    assert result.status == 1 and "leave out -C" in result.err


@pytest.mark.parametrize("option", [("-m", "stub/one"), ("-e", "default"), ("-f", "x"), ("--tag", "x"), ("--run", "x")])
def test_the_schedule_chooses(invoke: Invoke, suite: Path, option: tuple[str, str]) -> None:
    result = invoke("run", "--due", *option, cwd=suite)
    assert result.status == 2 and "--due takes models and experiments from the schedule" in result.err
