"""What `key=value` means: runs that say how models do, and all that fit only where that is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Invoke
from tests.factories import EVAL, make_eval, make_run

LATER = "001-more/000-later"
NOT_TAKEN = "experiment=default: not taken: 1 synthetic, 1 not complete, 1 without a scored trial (runs=all takes them)"


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    make_eval(tmp_path, EVAL)
    runs = tmp_path / "runs"
    make_run(runs, {EVAL: "u"}, run_id="empty")
    make_run(runs, {EVAL: "p", LATER: ""}, run_id="half", complete=False)
    make_run(runs, {EVAL: "p"}, run_id="stand-in", model="reference/answers", synthetic=True)
    make_run(runs, {EVAL: "p"}, run_id="whole")
    make_run(runs, {EVAL: "f"}, run_id="other", experiment="no_guidelines")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_runs_that_say_nothing_of_models_are_left_out_and_counted(suite: Path, invoke: Invoke) -> None:
    done = invoke("compare", "experiment=no_guidelines", "experiment=default")
    assert done.status == 0 and f"note: {NOT_TAKEN}" in done.out
    assert "default: whole (" in done.out and "half" not in done.out.partition("note:")[0]
    done = invoke("compare", "experiment=no_guidelines", "experiment=default,runs=all")
    assert "not taken" not in done.out and "B is not complete (half)" in done.out
    assert "B is synthetic (reference/answers)" in done.out


def test_a_stand_in_that_is_named_is_meant(suite: Path, invoke: Invoke) -> None:
    done = invoke("compare", "experiment=no_guidelines", "model=reference/answers")
    assert done.status == 0 and "B is synthetic (reference/answers)" in done.out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("experiment=default,runs=some", "runs=some: write runs=all to take synthetic and incomplete runs, too"),
        ("experiment=web_search", "experiments that ran: default, no_guidelines"),
    ],
)
def test_a_mistake_is_one_line(words: str, message: str, suite: Path, invoke: Invoke) -> None:
    done = invoke("compare", words, "whole")
    assert done.status == 1 and message in done.err and done.err.count("\n") == 1


def test_where_nothing_is_left_it_says_how_to_take_all(tmp_path: Path, suite: Path, invoke: Invoke) -> None:
    make_run(suite / "runs", {EVAL: "u"}, run_id="lost", experiment="web_search")
    done = invoke("compare", "experiment=web_search", "whole")
    assert done.status == 1 and "only runs that are not taken: 1 without a scored trial; add runs=all" in done.err
