"""Our own runs as conversations: what was asked, and what came back, each reply once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from convex_evals.sessions.conversation import Conversation
from convex_evals.sessions.message import ASSISTANT, USER
from convex_evals.sessions.readers.own_runs import READER
from convex_evals.store.run import Run
from tests.conftest import Invoke
from tests.exports.runs import FIRST, REPLY, SECOND, make_suite, run_of


def read(place: Path) -> tuple[list[Conversation], list[str]]:
    problems: list[str] = []
    found = [each for file in READER.files(place) for each in READER.read(file, problems.append)]
    for each in found:
        assert each.records.read == len(each.raw)
    return found, problems


def generation_file(run: Run, eval_id: str) -> Path:
    return run.eval_folder(eval_id) / "generation.json"


def test_a_trial_is_a_task_and_a_reply(tmp_path: Path) -> None:
    make_suite(tmp_path)
    found, problems = read(tmp_path / "runs")
    assert problems == []
    assert [each.title for each in found] == [FIRST, FIRST, SECOND, SECOND, SECOND]  # one was never answered
    (asked, answered) = found[0].messages
    assert (asked.role, asked.text) == (USER, f"The task of {FIRST}. 'quoted' \u00e9\n")
    assert (answered.role, answered.text, answered.model) == (ASSISTANT, REPLY, "acme/model-1")
    assert answered.cost_usd == 0.0125 and answered.usage is not None and answered.usage.output_tokens == 200
    assert found[0].started_at == "2026-01-31T00:00:00.000Z"
    assert json.loads(found[0].raw[2]) == {"model": "acme/model-1", "reply": REPLY}


def test_a_reply_that_two_runs_use_is_one_conversation(tmp_path: Path, invoke: Invoke) -> None:
    run = make_suite(tmp_path, {FIRST: "pf"}, run_id="one")
    own = {f"{FIRST} {n}" for n in (1, 2)}
    later = run_of(tmp_path, {FIRST: "pf"}, run_id="two", reused=run)
    # As it is written where a reply is used again: the same identity.
    file = generation_file(later, FIRST)
    data = json.loads(file.read_text())
    for trial, first in zip(data["trials"], run.generation(FIRST).trials, strict=True):
        trial["generation_id"] = first.generation_id
    file.write_text(json.dumps(data))
    found, _ = read(tmp_path / "runs")
    assert len(found) == 4 and len({each.session_id for each in found}) == len(own)
    assert "2 new, 2 unchanged" in invoke("sessions", "import", "--from", "runs").out
    assert "4 unchanged" in invoke("sessions", "import", "--from", "runs").out


def test_runs_are_read_where_they_are_named(tmp_path: Path, invoke: Invoke) -> None:
    make_suite(tmp_path)
    assert "5 new" in invoke("sessions", "import", "runs").out
    listed = json.loads(invoke("sessions", "list", "--json").out)
    assert len(listed) == 5 and {each["tool"] for each in listed} == {"runs"}


def test_runs_are_not_read_unasked(tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    make_suite(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "No conversations" in invoke("sessions", "import").out


def test_without_runs_the_folder_is_named(tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "evals").mkdir()
    done = invoke("sessions", "import", "--from", "runs")
    assert done.status == 1 and f"{tmp_path / 'runs'}: no such file or folder" in done.err


def test_what_cannot_be_told_is_left_out_and_said(tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    (tmp_path / "evals" / FIRST / "TASK.txt").write_text("Another task.\n")
    (run.eval_folder(SECOND) / "2.md").unlink()
    found, problems = read(tmp_path / "runs")
    assert [each.title for each in found] == [SECOND, SECOND]
    assert [problem.rpartition("/")[2] for problem in problems] == [
        "generation.json: the task has changed since, and the suite's history does not have it; left out",
        "2.md: the reply is not there any more; left out",
    ]


@pytest.mark.parametrize("text", ["", "{", '{"kind": "generation"}', '{"kind": "run", "schema": 99}'])
def test_a_broken_file_is_left_out_and_said(text: str, tmp_path: Path) -> None:
    run = make_suite(tmp_path, {FIRST: "p", SECOND: "p"})
    generation_file(run, FIRST).write_text(text)
    found, problems = read(tmp_path / "runs")
    assert [each.title for each in found] == [SECOND]
    assert len(problems) == 1 and "generation.json" in problems[0] and problems[0].endswith("; left out")


def test_a_file_elsewhere_is_none_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "generation.json").write_text("{}")
    found, problems = read(tmp_path)
    assert found == [] and "not the generation.json of an eval in a run" in problems[0]
