"""One run that cannot be read: it is named, the others are shown, and the exit code says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Invoke
from tests.factories import EVAL, make_eval, make_run

CONFLICT = '<<<<<<< HEAD\n{"kind": "summary"}\n=======\n{}\n>>>>>>> theirs\n'


@pytest.fixture(params=[("summary.json", '{"kind": "summ'), ("run.json", CONFLICT)], ids=["cut", "conflict"])
def bad(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that cannot be read, of one run in three."""
    make_eval(tmp_path, EVAL)
    runs = [make_run(tmp_path / "runs", {EVAL: "p"}, run_id=f"default-{n}") for n in range(3)]
    monkeypatch.chdir(tmp_path)
    name, text = request.param
    path: Path = runs[1].folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("list",), "default-0"),
        (("leaderboard",), "acme/model-1"),
        (("leaderboard", "--all"), "acme/model-1"),
        (("matrix",), EVAL),
        (("history", "-m", "acme/model-1"), "default-2"),
        (("compare", "model=acme/model-1", "default-0"), "default-2"),
        (("report", "default-0", "--index"), "default-0"),
        (("report", "acme/model-1"), "default-2"),
        (("prune", "--older-than", "30"), "default-0"),
    ],
    ids=" ".join,
)
def test_it_stops_none_of_the_others(command: tuple[str, ...], shown: str, bad: Path, invoke: Invoke) -> None:
    done = invoke(*command)
    assert done.status == 1 and shown in done.out, done.err
    (line,) = done.err.splitlines()
    assert line.startswith(f"error: left out: {bad}:1: not valid JSON") and line.endswith("restore the file from Git")


def test_other_runs_are_shown_as_if_it_were_not_there(bad: Path, invoke: Invoke) -> None:
    assert invoke("show", "default-0").status == invoke("show", "default-2").status == 0
    assert [run["run_id"] for run in json.loads(invoke("list", "--json").out)].count("default-1") == 0


def test_who_asks_for_it_alone_gets_the_error(bad: Path, invoke: Invoke) -> None:
    for command in (("show", "default-1"), ("report", "default-1")):
        done = invoke(*command)
        assert done.status == 1 and f"error: {bad}:1: not valid JSON" in done.err and "Traceback" not in done.err


def test_many_are_named_in_a_few_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke) -> None:
    make_eval(tmp_path, EVAL)
    for n in range(9):
        (make_run(tmp_path / "runs", {EVAL: "p"}, run_id=f"default-{n}").folder / "summary.json").write_text("{")
    monkeypatch.chdir(tmp_path)
    done = invoke("list")
    assert done.status == 1 and len(done.err.splitlines()) == 5 and "and 4 more like it" in done.err
