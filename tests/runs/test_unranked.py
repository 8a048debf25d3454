"""Runs that are not ranked: they say so before they start and at their end, and a commit makes them count."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from convex_evals.store.runs import RunStore
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, write_files
from tests.provider import Provider, models_yaml
from tests.wire import question

pytestmark = [pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

OTHER = "  - {{slug: stub/other, litellm: openai/other, base_url: '{url}', key_env: STUB_KEY}}\n"
RUN = ("run", "-m", "model")
DRAFT = "ot ranked: of uncommitted changes to the suite (models.yaml); commit them, and the same command makes the run"


@pytest.fixture
def suite(tmp_path: Path, stub: Provider, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Committed, but for the models.yaml that the docs tell people to make."""
    for i in range(3):
        make_eval(tmp_path, f"000-fundamentals/00{i}-eval", {"TASK.txt": f"Task {i}.\n"})
    make_git_repo(write_files(tmp_path, {"guidelines/convex.md": "Answer.\n", ".gitignore": ".cache/\n"}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STUB_KEY", "planted-secret-0123456789")
    return write_files(tmp_path, {"models.yaml": models_yaml(stub.url)})


def commit(suite: Path) -> None:
    for words in (["add", "-A"], ["-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "x"]):
        subprocess.run(["git", *words], cwd=suite, check=True)


def standings(invoke: Invoke) -> list[str]:
    return [each["model"] for each in json.loads(invoke("leaderboard", "--json").out)["standings"]]


def test_a_commit_makes_a_draft_count_without_asking_again(suite: Path, stub: Provider, invoke: Invoke) -> None:
    done = invoke(*RUN)
    assert done.status == 0 and f"warning: n{DRAFT}" in done.err and f"N{DRAFT}" in done.out
    assert done.err.index("warning: n") < done.err.index("trials: 3"), "before anything is asked"
    told = invoke("leaderboard").out
    assert "`cli run -m MODEL` makes one" not in told, "another run would be reused, and not ranked either"
    assert "Commit the changes to the suite and repeat the command" in told and standings(invoke) == []
    commit(suite)
    asked = len(stub.requests)
    done = invoke(*RUN)
    assert "ot ranked" not in done.err + done.out and len(stub.requests) == asked
    assert standings(invoke) == ["stub/model"]
    summary = next(RunStore(suite / "runs").all()).summary()
    assert summary and summary.reused == 3 and summary.cost_usd == 0
    assert invoke(*RUN).status == 0 and len(list(RunStore(suite / "runs").all())) == 2, "and it stays the same run"


def test_a_part_of_the_suite_is_no_result_of_a_model(suite: Path, stub: Provider, invoke: Invoke) -> None:
    (suite / "models.yaml").write_text(f"{models_yaml(stub.url)}{OTHER.format(url=stub.url)}")
    commit(suite)
    assert invoke(*RUN, "-m", "other").status == 0
    for model in ("model", "other"):
        done = invoke("run", "-m", model, "-f", "000-eval", "--fresh")
        assert "warning: not ranked: partial, 1 of 3 evals" in done.err and "Not ranked: partial, 1 of 3" in done.out
    board = json.loads(invoke("leaderboard", "--json").out)
    assert {each["evals"] for each in board["standings"]} == {3} and len(board["standings"]) == 2
    assert board["left_out"] == {"partial: 1 of 3 evals": 2}
    listed = invoke("list").out
    assert listed.count("1 of 3") == 2


def test_what_is_minted_of_a_part_is_ranked(suite: Path, stub: Provider, invoke: Invoke) -> None:
    commit(suite)
    assert invoke(*RUN, "-f", "000-eval").status == 0
    assert standings(invoke) == []
    assert invoke("benchmark", "mint", "small", "--from", "last").status == 0
    assert standings(invoke) == ["stub/model"], "a minted benchmark ranks it"


@pytest.mark.parametrize("way", ["empty", "white_space", "tool_call"])
def test_nothing_is_a_reply_and_fails(way: str, suite: Path, stub: Provider, invoke: Invoke) -> None:
    """A model that says nothing where it knows nothing must not rank by what it liked to answer."""
    commit(suite)
    stub.behave = lambda n, body: way if "Task 1." in question(body) else "ok"
    done = invoke(*RUN)
    assert done.status == 0 and len(stub.requests) == 3, done.err
    (run,) = RunStore(suite / "runs").all()
    summary = run.summary()
    assert summary and (summary.counts.scored, summary.counts.unscored) == (3, 0)
    (failed,) = run.grade("000-fundamentals/001-eval").trials
    assert failed.verdict.outcome == "failed" and failed.verdict.caught_by == "filesystem"
    assert (
        "empty: the provider finished a reply without text" in invoke("show", "last", "000-fundamentals/001-eval").out
    )
    assert invoke(*RUN).status == 0 and len(stub.requests) == 3, "and it is not asked for again"
    assert standings(invoke) == ["stub/model"]
