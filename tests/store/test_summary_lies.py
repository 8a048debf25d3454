"""A summary is derived from grade files: one that says more than they do is refused, and the other runs are shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from convex_evals.records import Outcome, StepName, Verdict
from tests.conftest import Invoke
from tests.factories import make_failure, make_verdict
from tests.store.hostile import EVAL, refused, run_folder

LIE = {"passed": 7000, "failed": 0, "unscored": 0}


def _everywhere(data: dict[str, Any], counts: dict[str, int]) -> None:
    for part in (data, *data["categories"].values(), *data["evals"].values()):
        part["counts"] = counts


def _of_category(data: dict[str, Any], **changes: Any) -> None:
    data["categories"][EVAL.partition("/")[0]].update(changes)


LIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "more trials than were planned": lambda data: _everywhere(data, LIE),
    "one more": lambda data: _everywhere(data, {"passed": 3, "failed": 0, "unscored": 0}),
    "no trials": lambda data: _everywhere(data, {"passed": 0, "failed": 0, "unscored": 0}),
    "a total that is no sum": lambda data: data.update(counts={"passed": 2, "failed": 0, "unscored": 0}),
    "a category that is no sum": lambda data: _of_category(data, counts={"passed": 2, "failed": 0, "unscored": 0}),
    "another category": lambda data: data["categories"].update(other=next(iter(data["categories"].values()))),
    "no categories": lambda data: data.update(categories={}),
    "dollars": lambda data: data.update(cost_usd=0.0),
    "tokens": lambda data: data["usage"].update(output_tokens=1),
    "time": lambda data: data.update(generation_ms=1),
    "reasons": lambda data: data.update(unscored={"timeout": 5}),
    "reasons of a category": lambda data: _of_category(data, unscored={"timeout": 5}),
    "replies for nothing": lambda data: data.update(replies_cost_usd=0.0),
    "more replies reused than there are": lambda data: data.update(reused=3),
}
# No sum tells this: the grade files do.
COHERENT = {"passed": 2, "failed": 0, "unscored": 0}


def tell(suite: Path, lie: Callable[[dict[str, Any]], None]) -> Path:
    path = run_folder(suite) / "summary.json"
    data = json.loads(path.read_text())
    lie(data)
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize("lie", LIES)
def test_a_summary_that_contradicts_itself_is_refused(lie: str, suite: Path, invoke: Invoke) -> None:
    path = tell(suite, LIES[lie])
    for command in (("show", "default-after"), ("report", "default-after", "--stdout")):
        result = invoke(*command, cwd=suite)
        refused(result)
        assert str(path) in result.err and "`cli finish default-after`" in result.err, result.err
    listed = invoke("list", cwd=suite)
    assert listed.status == 1 and "default-before" in listed.out and "default-after" not in listed.out
    assert listed.err.startswith(f"error: left out: {path}: ") and listed.err.count("\n") == 1
    for ranking in ("leaderboard", "matrix"):
        board = invoke(ranking, "--json", cwd=suite)
        assert board.status == (lie != "no trials") and "default-before" in board.out
        why = "without a scored trial" if lie == "no trials" else f"{path}: "
        assert why in board.out and (lie == "no trials" or "`cli finish default-after`" in board.out)


@pytest.mark.parametrize("lie", [*LIES, "coherent"])
def test_finish_makes_it_again(lie: str, suite: Path, invoke: Invoke) -> None:
    true = (run_folder(suite) / "summary.json").read_text()
    path = tell(suite, LIES.get(lie) or (lambda data: _everywhere(data, COHERENT)))
    assert invoke("finish", "default-after", cwd=suite).status == 0
    assert path.read_text() == true
    assert invoke("list", cwd=suite).err == ""


@pytest.mark.parametrize("counts", [COHERENT, {"passed": 0, "failed": 2, "unscored": 0}])
def test_a_report_goes_by_the_grade_files(counts: dict[str, int], suite: Path, invoke: Invoke) -> None:
    path = tell(suite, lambda data: _everywhere(data, counts))
    result = invoke("report", "default-after", "--stdout", cwd=suite)
    refused(result)
    assert (
        str(path) in result.err and "grade.66666666.json" in result.err and "`cli finish default-after`" in result.err
    )


def _pass(**changes: Any) -> dict[str, Any]:
    return {**make_verdict().model_dump(mode="json", by_alias=True), **changes}


def _failure(**changes: Any) -> dict[str, Any]:
    failure = make_failure({"tests": "no"}, {"answers": "expected 42"})
    return {**failure.model_dump(mode="json", by_alias=True), **changes}


@pytest.mark.parametrize(
    "verdict",
    [
        _failure(outcome="passed"),
        _failure(outcome="passed", caught_by=None),
        _failure(outcome="passed", caught_by=None, tests=[]),
        _failure(outcome="passed", caught_by=None, steps=_pass()["steps"]),
        _pass(caught_by="tests"),
        _pass(steps=[{**_pass()["steps"][0], "outcome": "unscored"}]),
        make_verdict(Outcome.UNSCORED, StepName.TSC).model_dump(mode="json", by_alias=True) | {"outcome": "passed"},
    ],
)
def test_a_pass_has_no_failure_in_it(verdict: dict[str, Any], suite: Path, invoke: Invoke) -> None:
    with pytest.raises(ValidationError, match="passed, but"):
        Verdict.model_validate(verdict)
    path = run_folder(suite) / "evals" / EVAL / "grade.66666666.json"
    data = json.loads(path.read_text())
    data["trials"][1]["verdict"] = verdict
    path.write_text(json.dumps(data))
    for command in (("show", "default-after"), ("report", "default-after", "--stdout")):
        result = invoke(*command, cwd=suite)
        refused(result)
        assert str(path) in result.err and "passed, but" in result.err
