"""Commands whose trials get no verdict: exit codes that a workflow can trust, and lines that say why."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from convex_evals.errors import ExitCode
from tests.conftest import Invoke
from tests.factories import make_eval, write_files
from tests.provider import Provider, models_yaml
from tests.wire import question

pytestmark = [pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

RUN = ("run", "-m", "model")
WHY = "context_overflow: This model's maximum context length is 10 tokens, reduce the prompt"


@pytest.fixture
def suite(tmp_path: Path, stub: Provider, monkeypatch: pytest.MonkeyPatch) -> Path:
    for i in range(2):
        make_eval(tmp_path, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STUB_KEY", "planted-secret-0123456789")
    return write_files(tmp_path, {"models.yaml": models_yaml(stub.url), "guidelines/convex.md": "Answer.\n"})


def no_reply_to_the_first(stub: Provider) -> None:
    stub.behave = lambda n, body: "context" if "Task 0" in question(body) else "ok"


@pytest.mark.parametrize(("way", "status"), [("ok", 0), ("context", 6), ("auth", 1)])
def test_success_means_that_every_trial_has_a_verdict(
    way: str, status: int, suite: Path, stub: Provider, invoke: Invoke
) -> None:
    stub.behave = lambda n, body: way
    done = invoke(*RUN)
    assert done.status == status, done.err
    assert ("Results: " in done.out) == (status == 0)
    assert ("incomplete: 2 of 2 trials have no verdict" in done.err) == bool(status)


def test_what_lacks_a_verdict_is_said_by_every_command(suite: Path, stub: Provider, invoke: Invoke) -> None:
    no_reply_to_the_first(stub)
    for _ in range(2):
        done = invoke(*RUN, "--fail-on-failure")
        assert done.status == ExitCode.INCOMPLETE, "whether all pass is not known"
        assert "incomplete: 1 of 2 trials has no verdict (1 x context_overflow)\n" in done.err
        shown = invoke("show", "last")
        assert re.search(rf"000-eval +1 +unscored +0.0s +{re.escape(WHY)}\n", shown.out)
        assert "cli show default-" in invoke("show", "last", "000-eval").err
    stuck = invoke(*RUN)
    assert stuck.status == ExitCode.INCOMPLETE and "Try again: cli run -m model --retry-unscored" in stuck.out
    assert WHY in invoke("show", "last").out, "also from the files"
    assert invoke("finish", "last").status == ExitCode.INCOMPLETE
    stub.behave = lambda n, body: "ok"
    assert invoke(*RUN, "--retry-unscored", "--fail-on-failure").status == ExitCode.EVALS_FAILED


def test_asking_alone_is_about_replies(suite: Path, stub: Provider, invoke: Invoke) -> None:
    no_reply_to_the_first(stub)
    done = invoke(*RUN, "--only", "ask")
    assert done.status == ExitCode.INCOMPLETE and "1 of 2 trials has no reply (1 x context_overflow)" in done.err
    done = invoke(*RUN, "--only", "grade")
    assert done.status == ExitCode.INCOMPLETE and "1 of 2 trials has no verdict (1 x context_overflow)" in done.err


def test_nothing_is_reported_of_a_run_without_a_verdict(suite: Path, stub: Provider, invoke: Invoke) -> None:
    stub.behave = lambda n, body: "context"
    for _ in range(3):
        done = invoke(*RUN)
    assert "Results: " not in done.out and "See why: cli show default-" in done.out
    done = invoke("report", "last", "--index")
    assert done.status == ExitCode.INCOMPLETE and "no trial has a verdict, so there is nothing to report" in done.err
    assert [p.name for p in (suite / "reports").rglob("*.md")] == ["README.md"], "the index is written all the same"


def test_a_budget_that_is_too_small_says_what_would_do(suite: Path, stub: Provider, invoke: Invoke) -> None:
    done = invoke(*RUN, "--budget", "0.001")
    assert done.status == ExitCode.INCOMPLETE and stub.requests == []
    said = re.search(
        r"incomplete: stub/model: 2 trials were not asked: each may cost up to \$0.0\d+, and \$0.0010 are left of "
        r"\$0.0010; resume by the same command, with --budget ([\d.]+) for the next one, or ([\d.]+) for all ",
        done.err,
    )
    assert said, done.err
    done = invoke(*RUN, "--budget", said[1])
    assert done.status == ExitCode.INCOMPLETE and len(stub.requests) == 1
    assert invoke(*RUN, "--budget", said[2]).status == ExitCode.OK and len(stub.requests) == 2


def test_what_resumes_fresh_replies_does_not_begin_again(suite: Path, stub: Provider, invoke: Invoke) -> None:
    done = invoke(*RUN, "--fresh", "--budget", "0.001")
    assert "the same command" not in done.err + done.out
    said = re.search(r"; resume by `(cli run --run default-\w+)`, with --budget", done.err)
    assert said and f"`{said[1]}` resumes it" in done.out
    done = invoke(*said[1].split()[1:], "--budget", "1", "--json")
    assert done.status == ExitCode.OK and json.loads(done.out)[0]["complete"]
    assert len(list((suite / "runs").rglob("run.json"))) == 1
