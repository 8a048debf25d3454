"""`cli run` with a model: what is asked, what is reused, and what survives `kill -9`. The provider counts."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from convex_evals.records import GenerationFile, GradeFile
from convex_evals.store.records import read_record
from tests import patience
from tests.commands import command, start
from tests.conftest import ROOT, clean_environment
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import NO_FILES, Provider, models_yaml
from tests.wire import question

pytestmark = [pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

KEY = "planted-secret-0123456789"


@pytest.fixture
def suite(tmp_path: Path, stub: Provider) -> Path:
    """Three evals, a model, guidelines."""
    for i in range(3):
        make_eval(tmp_path, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    guidelines = "<!-- evals: x -->\nAlways answer.\n"
    files = {"models.yaml": models_yaml(stub.url), "guidelines/convex.md": guidelines, ".env": f"STUB_KEY={KEY}"}
    return write_files(tmp_path, files)


def cli(cwd: Path, *arguments: str, status: int = 0) -> str:
    done = command(cwd, *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    assert KEY not in done.stdout + done.stderr
    return done.stdout


def run(suite: Path, *arguments: str) -> dict[str, Any]:
    (found,) = json.loads(cli(suite, "run", "-m", "model", "--json", *arguments))
    assert isinstance(found, dict)
    return found


def asked(stub: Provider) -> list[str]:
    """The tasks that were asked since the last time, in order."""
    tasks = sorted(question(body) for body in stub.requests)
    stub.requests.clear()
    return tasks


@pytest.mark.full
def test_what_changed_is_asked_again_and_nothing_else(suite: Path, stub: Provider) -> None:
    first = run(suite)
    assert asked(stub) == ["Task 0.", "Task 1.", "Task 2."]
    assert first["summary"]["counts"] == {"passed": 0, "failed": 3, "unscored": 0}
    assert first["summary"]["cost_usd"] == pytest.approx(3 * 0.006)

    assert run(suite)["run_id"] == first["run_id"] and asked(stub) == []

    task = suite / "evals" / "000-fundamentals" / "001-eval" / "TASK.txt"
    task.write_text("Another task.\n")
    second = run(suite)
    assert asked(stub) == ["Another task."]
    assert second["run_id"] != first["run_id"] and second["summary"]["reused"] == 2
    assert second["summary"]["cost_usd"] == pytest.approx(0.006)

    grader = suite / "evals" / "000-fundamentals" / "002-eval" / "grader.test.ts"
    grader.write_text(grader.read_text() + "\n// another grader\n")
    third = run(suite)
    assert asked(stub) == [] and third["summary"]["reused"] == 3

    guidelines = suite / "guidelines" / "convex.md"
    guidelines.write_text("<!-- evals: another comment -->\nAlways answer.\n")
    assert run(suite)["run_id"] == third["run_id"] and asked(stub) == []
    run(suite, "-e", "no_guidelines")
    assert len(asked(stub)) == 3
    guidelines.write_text("Always answer well.\n")
    assert run(suite, "-e", "no_guidelines")["experiment"] == "no_guidelines" and asked(stub) == []
    run(suite)
    assert len(asked(stub)) == 3
    run(suite, "--fresh")
    assert len(asked(stub)) == 3
    assert {h["authorization"] for h in map(_lower, stub.headers)} == {f"Bearer {KEY}"}


def commit_as_somebody(folder: Path) -> None:
    for name, value in (("user.name", "Test"), ("user.email", "test@example.org")):
        subprocess.run(["git", "config", name, value], cwd=folder, check=True)


def _lower(headers: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


@pytest.mark.full
def test_guidelines_of_a_revision(suite: Path, stub: Provider) -> None:
    write_files(suite, {".gitignore": "runs/\n.cache/\n.env\n"})
    make_git_repo(suite)
    (suite / "guidelines" / "convex.md").write_text("Never answer.\n")
    run(suite, "-f", "000-eval", "--guidelines", "guidelines/convex.md@HEAD")
    (body,) = stub.requests
    assert "Always answer." in body["messages"][0]["content"] and "evals:" not in body["messages"][0]["content"]
    assert (suite / "guidelines" / "convex.md").read_text() == "Never answer.\n"


@pytest.mark.full
def test_no_key_in_any_file(suite: Path, stub: Provider) -> None:
    stub.behave = lambda n, body: "auth"
    cli(suite, "run", "-m", "model", status=1)
    stub.behave = lambda n, body: "ok"
    run(suite)
    for path in suite.rglob("*"):
        if path.is_file() and path.name != ".env":
            assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("arguments", [[], ["--trials", "2", "--commit"]])
def test_a_missing_key_is_one_line_and_nothing_is_begun(arguments: list[str], suite: Path, stub: Provider) -> None:
    write_files(suite, {".env": "", ".gitignore": ".cache/\n"})
    commit_as_somebody(make_git_repo(suite))
    done = command(suite, "run", "-m", "stub/model", "-m", "gpt-5", "-m", "xai/grok-4.3", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "error: 3 keys are not set: STUB_KEY (stub/model), OPENAI_API_KEY (openai/gpt-5), XAI_API_KEY (xai/grok-4.3); "
        "set them in your shell or in .env, or choose another model (`cli models list`)\n"
    )
    one = command(suite, "run", "-m", "gpt-5", *arguments)
    assert one.stderr.startswith("error: OPENAI_API_KEY is not set: openai/gpt-5 asks OpenAI; set it in your shell")
    assert stub.requests == [] and not (suite / "runs").exists()
    priced = command(suite, "run", "-m", "gpt-5", "--dry-run", "--json")
    assert priced.returncode == 0 and priced.stderr.startswith("warning: OPENAI_API_KEY is not set: openai/gpt-5")
    assert json.loads(priced.stdout)[0]["usual_usd"] > 0
    priced = command(suite, "run", "-m", "gpt-5", "--dry-run", env=clean_environment(OPENAI_API_KEY=KEY))
    assert priced.returncode == 0 and not priced.stderr


@pytest.mark.full
def test_a_stopped_model_is_one_line_and_counts_against_nobody(suite: Path, stub: Provider) -> None:
    stub.behave = lambda n, body: "quota"
    done = command(suite, "run", "-m", "model")
    (line,) = [x for x in done.stderr.splitlines() if x.startswith("error:")]
    assert done.returncode == 1 and "stub/model" in line and "top up the account" in line
    stub.behave = lambda n, body: "ok"
    assert run(suite)["summary"]["counts"]["failed"] == 3


@pytest.mark.full
def test_three_runs_of_faults_and_then_only_on_request(suite: Path, stub: Provider) -> None:
    stub.behave = lambda n, body: "context" if "Task 1" in question(body) else "ok"
    for _ in range(3):
        (found,) = json.loads(cli(suite, "run", "-m", "model", "--json", status=6))
    assert found["summary"]["counts"] == {"passed": 0, "failed": 2, "unscored": 1}
    assert found["summary"]["unscored"] == {"context_overflow": 1}
    assert asked(stub) == ["Task 0.", "Task 1.", "Task 1.", "Task 1.", "Task 2."]
    done = command(suite, "run", "-m", "model")
    assert asked(stub) == [] and done.returncode == 6
    assert "incomplete: 1 of 3 trials has no verdict (1 x context_overflow)" in done.stderr
    line = "Stuck: 1 trial has no verdict after three commands (1 x context_overflow), and is not asked for again."
    assert f"{line}\nTry again: cli run -m model --retry-unscored\n" in done.stdout
    (found,) = json.loads(cli(suite, "run", "-m", "model", "--json", status=6))
    assert found["go_on"] == "cli run -m model --retry-unscored" and asked(stub) == []
    stub.behave = lambda n, body: "ok"
    again = run(suite, "--retry-unscored")
    assert again["go_on"] is None
    assert asked(stub) == ["Task 1."]
    assert again["summary"]["counts"]["failed"] == 3 and again["summary"]["reused"] == 2


@pytest.mark.parametrize(("way", "status"), [("auth", 1), ("context", 6), ("ok", 0)])
def test_nothing_is_committed_where_nothing_is_scored(way: str, status: int, suite: Path, stub: Provider) -> None:
    write_files(suite, {".gitignore": ".cache/\n.env\n"})
    commit_as_somebody(make_git_repo(suite))
    stub.behave = lambda n, body: way
    done = command(suite, "run", "-m", "model", "--commit")
    assert done.returncode == status, done.stderr
    log = subprocess.run(["git", "log", "--format=%s"], cwd=suite, capture_output=True, text=True, check=True).stdout
    assert len(log.splitlines()) == (1 if status else 2)
    assert ("Not committed, since no trial was scored: " in done.stdout) == bool(status)
    if way == "context":
        assert "Unscored: 3 trials (3 x context_overflow).\nTry again: cli run -m model --commit\n" in done.stdout


def test_dry_run_asks_nobody(suite: Path, stub: Provider) -> None:
    (row,) = json.loads(cli(suite, "run", "-m", "model", "--trials", "4", "--dry-run", "--json"))
    assert row["calls"] == 12 and row["usual_usd"] > 0 and row["most_usd"] > 0
    assert stub.requests == [] and not (suite / "runs").exists()


def test_a_dry_run_prices_what_no_earlier_run_has(suite: Path, stub: Provider) -> None:
    def price(*more: str) -> dict[str, Any]:
        (row,) = json.loads(cli(suite, "run", "-m", "model", "--trials", "2", "--dry-run", "--json", *more))
        return {name: row[name] for name in ("trials", "reused", "calls")}

    assert price() == {"trials": 6, "reused": 0, "calls": 6}
    run(suite, "-f", "00[01]-eval")
    assert price() == {"trials": 6, "reused": 2, "calls": 4}
    assert price("--fresh") == {"trials": 6, "reused": 0, "calls": 6}


@pytest.mark.full
def test_who_asks_nobody_does_not_wait_for_litellm(suite: Path, stub: Provider) -> None:
    run(suite)
    for arguments in (["run", "-m", "model"], ["run", "-m", "model", "--trials", "2", "--dry-run"]):
        argv = [sys.executable, "-X", "importtime", str(ROOT / "cli.py"), *arguments]
        done = subprocess.run(argv, cwd=suite, env=clean_environment(), capture_output=True, text=True, check=True)
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "convex_evals.models.price" in imported and "litellm" not in imported


@pytest.mark.full
def test_budget_of_a_run(suite: Path, stub: Provider) -> None:
    done = command(suite, "run", "-m", "model", "--json", "--budget", "0.000001")
    assert done.returncode == 6 and "3 trials were not asked: each may cost up to $" in done.stderr
    assert stub.requests == [] and json.loads(done.stdout)[0]["complete"] is False
    for _ in range(3):
        cli(suite, "run", "-m", "model", "--budget", "0.000001", status=6)
    assert run(suite, "--budget", "1")["summary"]["counts"]["failed"] == 3, "no round was used up"


@pytest.mark.full
def test_a_smoke_test_is_a_run_of_its_own(suite: Path, stub: Provider) -> None:
    make_eval(suite, "001-data_modeling/000-eval", {"TASK.txt": "Task 3.\n"})
    run(suite)
    asked(stub)
    (found,) = json.loads(cli(suite, "models", "check", "model", "--smoke", "--json"))
    assert found["summary"]["counts"] == {"passed": 0, "failed": 2, "unscored": 0} and not found["synthetic"]
    assert asked(stub) == ["Reply with the word: ready", "Task 0.", "Task 3."], "one of each category, asked anew"
    stub.behave = lambda n, body: "auth"
    cli(suite, "models", "check", "model", "--smoke", status=1)
    assert len(asked(stub)) == 1, "who does not answer is not run"


@pytest.mark.full
def test_replay(suite: Path, stub: Provider) -> None:
    found = run(suite)
    (again,) = json.loads(cli(suite, "run", "-m", f"replay:{found['folder']}", "--json"))
    assert again["summary"]["counts"] == found["summary"]["counts"] and again["model"].startswith("replay/")
    assert len(stub.requests) == 3


@pytest.mark.full
def test_kill_minus_nine_loses_no_reply(suite: Path, stub: Provider, soak: bool) -> None:
    """A reply whose end is in the journal is never asked for again."""
    for i in range(3, 60):
        make_eval(suite, f"000-fundamentals/{i:03}-eval", {"TASK.txt": f"Task {i}.\n"})
    stub.pause = 0.004
    chance = random.Random(3)
    kills = 50 if soak else 4
    killed = 0
    while killed < kills:
        process = start(suite, "run", "-m", "model", "--concurrency", "8")
        before = len(stub.requests)
        deadline = time.monotonic() + patience.seconds(120)
        while len(stub.requests) == before and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.3))
        if process.poll() is not None:
            break
        process.kill()
        process.wait()
        killed += 1
    ended = ended_replies(suite)
    finished = list(stub.finished)
    cli(suite, "run", "-m", "model")
    tasks = [f"Task {i}." for i in range(60)]
    for eval_task in ended:
        assert finished.count(eval_task) == stub.finished.count(eval_task), f"{eval_task} was asked for again"
    assert sorted(set(stub.finished)) == sorted(tasks)
    check_results(suite)


def ended_replies(suite: Path) -> list[str]:
    """The tasks whose reply is whole in the journal, or in runs/."""
    found = []
    for path in suite.glob(".cache/convex-evals/journal/*/000-fundamentals/*/1.*"):
        number = int(path.parent.name[:3])
        if path.suffix == ".json" or '"reply": {' in path.read_text():
            found.append(f"Task {number}.")
    for path in suite.glob("runs/*/*/*/*/evals/*/*/1.md"):
        found.append(f"Task {int(path.parent.name[:3])}.")
    return sorted(set(found))


def check_results(suite: Path) -> None:
    (folder,) = suite.glob("runs/stub/model/*/*")
    evals = sorted((folder / "evals" / "000-fundamentals").iterdir())
    assert len(evals) == 60
    ids = set()
    for path in evals:
        generation = read_record(path / "generation.json", GenerationFile)
        (grade,) = [read_record(p, GradeFile) for p in path.glob("grade.*.json")]
        assert (path / "1.md").read_text() == NO_FILES
        assert grade.trials[0].generation_id == generation.trials[0].generation_id
        ids.add(generation.trials[0].generation_id)
    assert len(ids) == 60


def test_searches_are_recorded_and_a_model_that_cannot_is_skipped(suite: Path, stub: Provider) -> None:
    able = models_yaml(stub.url) + "    web_search: true\n"
    unable = able.replace("stub/model", "stub/blind").replace("true", "false").removeprefix("models:\n")
    write_files(suite, {"models.yaml": able + unable})
    stub.searches = 2
    done = command(suite, "run", "-m", "model", "-m", "blind", "-e", "web_search", "--json")
    assert done.returncode == 0, done.stderr
    assert "blind, web_search: skipped, its provider offers no web search for this model" in done.stderr
    (found,) = json.loads(done.stdout)
    assert found["model"] == "stub/model" and found["summary"]["searches"] == 6
    files = [read_record(p, GenerationFile) for p in Path(found["folder"]).rglob("generation.json")]
    assert [g.searches for file in files for g in file.trials] == [2, 2, 2]
    assert len(stub.requests) == 3 and all(body["web_search_options"] for body in stub.requests)
