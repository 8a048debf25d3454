"""Runs in parts: shards in clones of their own, and what `cli finish` says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.runs.shard import Shard, parse_shard
from convex_evals.store.runs import RunStore
from tests import commands, patience
from tests.commands import Command
from tests.conftest import Invoke, clean_environment
from tests.end_to_end.repositories import EVAL, git
from tests.factories import (
    make_eval,
    make_generation_file,
    make_git_repo,
    make_grade_file,
    make_plan,
    write_files,
)
from tests.provider import Provider, models_yaml, serve

pytestmark = pytest.mark.full


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 30)), max_size=60), st.integers(1, 9))
def test_shards_split_evals_evenly(evals: set[tuple[int, int]], of: int) -> None:
    ids = [f"{c:03}-c/{n:03}-n" for c, n in evals]
    shares = [Shard(i, of).share(ids) for i in range(1, of + 1)]
    assert sorted(e for share in shares for e in share) == sorted(ids)
    for within in ["", *(f"{c:03}-" for c in range(6))]:
        sizes = [sum(e.startswith(within) for e in share) for share in shares]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(UserError, match=r"write I/N with 1 <= I <= N"):
        parse_shard(text)


def test_finish_says_what_is_missing(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    evals = make_plan().evals
    planned = make_plan(evals={**evals, "001-more/000-later": evals[EVAL]})
    run = RunStore(tmp_path / "runs").create(planned)
    nothing = invoke("finish", "last")
    assert nothing.status == 1 and "has no results yet" in nothing.err and nothing.err.count("\n") == 1
    run.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    RunStore(tmp_path / "runs").create(make_plan(run_id="empty", date="2026-01-01"))
    result = invoke("finish", "empty", "default", "default")
    assert result.status == 1 and "/empty: has no results yet" in result.err
    assert result.err.splitlines()[1:] == ["incomplete: 1 of 2 trials has no verdict (1 x not delivered)"]
    assert result.out.count("Missing:") == 1
    assert invoke("finish", "default").out == result.out
    assert "Missing: 1 of 2 evals: 001-more/000-later\nComplete it: cli run --run default-00000000" in result.out
    summary = run.summary()
    assert summary and summary.missing == ("001-more/000-later",) and not run.is_complete
    (data,) = json.loads(invoke("finish", "last", "--json").out)
    assert data["complete"] is False and data["summary"]["counts"]["passed"] == 1


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["run", "-m", "reference", "--shard", "1/2"], 2, "--shard needs --run RUN, or --run-id and --date"),
        (["run", "--run", "default", "--trials", "2"], 2, "--run takes these from the plan; leave out --trials"),
        (["run", "--run", "default", "--shard", "3/2"], 1, "--shard 3/2: not a shard"),
        (["run", "--run", "nope"], 1, "nope: no such run in"),
        (["run", "--run", "default", "-m", "gpt5"], 1, "gpt5: no such model"),
        (["run", "-m", "reference", "--run-id", "A b"], 2, "--run-id A b: use lower-case letters"),
        (["plan", "-m", "reference", "--date", "2026-01-01"], 2, "--date needs --run-id"),
    ],
)
def test_wrong_words(arguments: list[str], status: int, message: str, invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    RunStore(tmp_path / "runs").create(make_plan())
    result = invoke(*arguments)
    assert result.status == status and message in result.err, result.err


def test_one_run_by_two_names_is_one(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "x")
    make_eval(tmp_path)
    write_files(tmp_path, {"models.yaml": models_yaml("http://127.0.0.1:1")})
    words = ["-e", "no_guidelines", "--dry-run", "--json"]
    assert len(json.loads(invoke("run", "-m", "model", "-m", "stub/model", *words).out)) == 1
    two = invoke("plan", "-m", "reference", "-m", "model", "-e", "no_guidelines", "--run-id", "x")
    assert two.status == 1 and "--run-id x: names one run" in two.err
    RunStore(tmp_path / "runs").create(make_plan())
    by_two_names = invoke("run", "--run", "last", "--run", "default-00000000", "--dry-run", "--json")
    assert len(json.loads(by_two_names.out)) == 1, by_two_names.err


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply="There is nothing to write.\n")) as provider:
        yield provider


@pytest.fixture
def suite(tmp_path: Path, stub: Provider) -> Path:
    """A bare repository with twelve evals in three categories."""
    seed = tmp_path / "seed"
    for i in range(12):
        make_eval(seed, f"00{i % 3}-category/{i:03}-eval", {"TASK.txt": f"Task {i}.\n"})
    files = {
        "models.yaml": models_yaml(stub.url),
        "guidelines/convex.md": "Always answer.\n",
        ".gitignore": ".cache/\n",
        ".gitattributes": "runs/** -text\n",
    }
    make_git_repo(write_files(seed, files))
    git(tmp_path, "clone", "-q", "--bare", str(seed), "origin.git")
    return tmp_path / "origin.git"


def start(cwd: Path, *arguments: str) -> Command:
    who = {f"GIT_{w}_{k}": v for w in ("AUTHOR", "COMMITTER") for k, v in (("NAME", "T"), ("EMAIL", "t@example.org"))}
    return commands.start(cwd, *arguments, env=clean_environment(STUB_KEY="sk-stub-000000000000", **who))


def cli(cwd: Path, *arguments: str, status: int = 0) -> Any:
    process = start(cwd, *arguments, "--json")
    out, err = process.communicate(timeout=patience.seconds(300))
    assert process.returncode == status, err
    return json.loads(out)


def facts(summary: dict[str, Any]) -> dict[str, Any]:
    """Without what a clock measured."""
    measured = ("generation_ms", "grading_ms", "first_token_ms", "replies_ms")
    parts = {
        key: {name: {k: v for k, v in part.items() if k not in measured} for name, part in summary[key].items()}
        for key in ("evals", "categories")
    }
    return {k: v for k, v in summary.items() if k not in (*measured, "run_id")} | parts


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_what_is_committed_without_a_verdict_is_tried_again_by_the_next_run(suite: Path, stub: Provider) -> None:
    git(suite.parent, "clone", "-q", str(suite), "here")
    here = suite.parent / "here"
    stub.behave = lambda n, body: "context" if "Task 3." in body["messages"][-1]["content"] else "ok"
    words = ["run", "-m", "model", "-f", "00[03]-eval", "-w", "1", "--commit"]
    (first,) = cli(here, *words, status=6)
    assert first["summary"]["unscored"] == {"context_overflow": 1}
    git(here, "clean", "-qfdx")
    stub.requests.clear()
    stub.behave = lambda n, body: "ok"
    (second,) = cli(here, *words)
    assert [body["messages"][-1]["content"] for body in stub.requests] == ["Task 3."]
    assert second["run_id"] != first["run_id"] and second["summary"]["reused"] == 1
    assert second["summary"]["counts"] == {"passed": 0, "failed": 2, "unscored": 0}
    # Commits of results are none of the suite's.
    plans = [json.loads(p.read_text()) for p in here.glob("runs/**/run.json")]
    assert [p["suite_commit"] for p in plans] == [git(here, "rev-parse", "HEAD~2")] * 2


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_shards_in_clones_of_their_own(suite: Path, stub: Provider, soak: bool) -> None:
    """Eight of them with --soak, otherwise three."""
    tmp_path = suite.parent
    count = 8 if soak else 3
    for name in ("planner", "fresh", "single", *(f"shard{i}" for i in range(1, count + 1))):
        git(tmp_path, "clone", "-q", str(suite), name)
    words = ["-m", "model", "--trials", "2", "--date", "2026-01-31"]
    (alone,) = cli(tmp_path / "single", "run", *words, "--run-id", "alone", "-w", "1")
    asked = len(stub.requests)
    (planned,) = cli(tmp_path / "planner", "plan", *words, "--run-id", "nightly", "--commit", "--push")
    assert planned["evals"] == 12 and len(stub.requests) == asked == 24

    # Half of them have what was planned, half make it from the same words.
    shards = []
    for i in range(1, count + 1):
        folder = tmp_path / f"shard{i}"
        which = [*words, "--run-id", "nightly"]
        if i % 2:
            git(folder, "pull", "-q")
            which = ["--run", "nightly"]
        shards.append(
            start(folder, "run", *which, "--shard", f"{i}/{count}", "-w", "1", "--budget", "8", "--commit", "--push")
        )
    for process in shards:
        out, err = process.communicate(timeout=patience.seconds(300))
        assert process.returncode == 0, out + err
        assert "Pushed to origin/main" in out
    assert len(stub.requests) == 2 * asked, "no trial was asked twice, none left out"

    assert git(suite, "rev-list", "--count", "main") == str(count + 2)
    fresh = tmp_path / "fresh"
    git(fresh, "pull", "-q")
    assert git(fresh, "ls-files", "runs").count("generation.json") == 12
    assert not list(fresh.glob("runs/**/summary.json"))
    (finished,) = cli(fresh, "finish", "nightly", "--commit", "--push")
    assert finished["complete"] and facts(finished["summary"]) == facts(alone["summary"])
    assert git(fresh, "status", "--porcelain") == ""
    assert "runs/stub/model/2026-01-31/nightly/summary.json" in git(suite, "ls-tree", "-r", "--name-only", "main")
    # A process that comes later has nothing left to do.
    (again,) = cli(fresh, "run", "--run", "nightly")
    assert again["complete"] and len(stub.requests) == 2 * asked
