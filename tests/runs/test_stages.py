"""Asking with keys and grading without them, as two commands that hand the journal over."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.commands import command
from tests.conftest import Invoke
from tests.factories import make_eval, write_files
from tests.provider import Provider, models_yaml


@pytest.fixture
def suite(tmp_path: Path, stub: Provider) -> Path:
    for i in range(3):
        make_eval(tmp_path, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    return write_files(
        tmp_path, {"models.yaml": models_yaml(stub.url), "guidelines/convex.md": "Answer.\n", ".env": "STUB_KEY=key"}
    )


def rows(cwd: Path, *arguments: str, status: int = 0) -> list[dict[str, Any]]:
    done = command(cwd, "run", "--json", *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def counts_of(suite: Path) -> dict[str, int]:
    [path] = suite.glob("runs/*/*/*/*/summary.json")
    found = json.loads(path.read_text())["counts"]
    assert isinstance(found, dict)
    return found


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_another_machine_grades_what_one_asked_for(suite: Path, stub: Provider) -> None:
    [asked] = rows(suite, "-m", "model", "--only", "ask")
    assert len(stub.requests) == 3
    assert (asked["trials"], asked["received"], asked["unreceived"]) == (3, 3, {})
    assert asked["cost_usd"] == pytest.approx(3 * 0.006)
    assert not list(suite.glob("runs/**/generation.json")), "results are the grading command's"
    assert asked["go_on"] == f"cli run --run {asked['run_id']} --only grade"
    # The other machine has the suite, the plan and the journal, and no key.
    other = suite / "other"
    for name in ("evals", "guidelines", "runs", ".cache"):
        shutil.copytree(suite / name, other / name)
    shutil.copy(suite / "models.yaml", other)
    [graded] = rows(other, "--run", asked["run_id"], "--only", "grade")
    assert graded["without_reply"] == 0 and len(stub.requests) == 3
    assert counts_of(other) == {"passed": 0, "failed": 3, "unscored": 0}


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_asking_again_asks_for_what_is_left(suite: Path, stub: Provider) -> None:
    stub.behave = lambda n, body: "context" if "Task 1." in str(body) else "ok"
    [asked] = rows(suite, "-m", "model", "--only", "ask", status=6)
    assert (asked["received"], asked["unreceived"]) == (2, {"context_overflow": 1})
    before = len(stub.requests)
    stub.behave = lambda n, body: "ok"
    [asked] = rows(suite, "-m", "model", "--only", "ask")
    assert (asked["received"], asked["unreceived"]) == (3, {}) and len(stub.requests) == before + 1


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_what_got_no_reply_is_unscored_and_what_was_not_asked_is_left(suite: Path, stub: Provider) -> None:
    stub.behave = lambda n, body: "context" if "Task 1." in str(body) else "ok"
    [asked] = rows(suite, "-m", "model", "--only", "ask", "-f", "00[01]-eval", status=6)
    command(suite, "plan", "-m", "model", "--run-id", "wide", "--date", "2026-11-25")
    [graded] = rows(suite, "--run", asked["run_id"], "--only", "grade", status=6)
    assert counts_of(suite) == {"passed": 0, "failed": 1, "unscored": 1}
    done = command(suite, "run", "--run", "wide", "--only", "grade")
    assert done.returncode == 0, done.stderr
    # Task 0 has a reply in an earlier run; Task 1 was given up there, and Task 2 was never asked.
    assert "Not graded: 2 trials without a reply; `cli run --run wide` asks for them" in done.stdout
    assert graded["without_reply"] == 0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("-m", "demo", "--only", "ask", "--commit"), "--only ask writes no results that could be committed"),
        (("--due", "--only", "grade"), "--only takes planned runs"),
        (("-m", "demo", "--only", "both"), "'both' is not one of 'ask', 'grade'"),
    ],
)
def test_options_that_contradict(invoke: Invoke, tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
    result = invoke("run", *arguments)
    assert result.status == 2 and why in result.err
