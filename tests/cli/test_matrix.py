"""`cli matrix`"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.analysis.leaderboard import Ranker
from convex_evals.analysis.matrix import make_matrices, matrix_section
from convex_evals.config import open_workspace
from convex_evals.render.plain import lines
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.runs import RunStore
from tests.conftest import Invoke
from tests.factories import make_eval, make_run

EVALS = ("000-fundamentals/000-answer", "000-fundamentals/001-more", "001-queries/000-first", "001-queries/001-second")


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for eval_id in EVALS:
        make_eval(tmp_path, eval_id)
    rows = {
        "acme/model-best": "ppp ppp pfp uuu",
        "acme/model-next": "ppp fpf fff fff",
        "big-lab/model-of-two": "ppp fff",
    }
    for model, outcomes in rows.items():
        make_run(tmp_path / "runs", dict(zip(EVALS, outcomes.split(), strict=False)), model=model, run_id="whole")
    bare = dict(zip(EVALS, "f", strict=False))
    make_run(tmp_path / "runs", {**bare, EVALS[1]: "p"}, model="acme/model-best", experiment="no_guidelines")
    make_run(tmp_path / "runs", dict.fromkeys(EVALS, "p"), model="reference/answers", synthetic=True)
    return tmp_path


@pytest.mark.parametrize("width", [80, 120])
def test_the_worst_eval_comes_first(width: int, suite: Path, golden: Callable[[str, str], None]) -> None:
    workspace = open_workspace(suite, None, suite)
    board = Ranker(RunStore(workspace.runs_dir), workspace.config, BenchmarkFolder(suite)).newest_verdicts()
    drawn = ["".join(text for text, _ in line) for line in lines(matrix_section(make_matrices(board), board), width)]
    assert max(map(len, drawn)) <= width
    golden(f"matrix-{width}.txt", "\n".join(drawn) + "\n")


def test_for_machines(suite: Path, invoke: Invoke) -> None:
    first, second = json.loads(invoke("matrix", "--json").out)["experiments"]
    assert (first["experiment"], second["experiment"]) == ("default", "no_guidelines")
    assert [column["model"] for column in first["models"]] == [
        "acme/model-best",
        "big-lab/model-of-two",
        "acme/model-next",
    ]
    assert [row["eval"] for row in first["evals"]] == [EVALS[3], EVALS[2], EVALS[1], EVALS[0]]
    worst = first["evals"][0]
    assert worst["pass_rate"] == 0 and worst["models"]["acme/model-best"]["pass_rate"] is None
    assert "big-lab/model-of-two" not in worst["models"]
    rows = list(csv.DictReader(io.StringIO(invoke("matrix", "-e", "default", "--format", "csv").out)))
    assert rows[1] == {
        "experiment": "default",
        "eval": EVALS[2],
        "all": "0.3333333333333333",
        "acme/model-best": "0.6666666666666666",
        "big-lab/model-of-two": "",
        "acme/model-next": "0.0",
    }


def test_evals_models_and_experiments_are_chosen(suite: Path, invoke: Invoke) -> None:
    (only,) = json.loads(invoke("matrix", "-e", "default", "-m", "model-next", "-c", "queries", "--json").out)[
        "experiments"
    ]
    assert [row["eval"] for row in only["evals"]] == [EVALS[2], EVALS[3]]
    assert [column["model"] for column in only["models"]] == ["acme/model-next"]
    assert "No run to show in" in invoke("matrix", "-e", "web_search").out
    assert invoke("matrix", "-e", "nothing").status == 1


def test_a_later_run_of_a_part_adds_its_verdicts_and_takes_none_away(suite: Path, invoke: Invoke) -> None:
    """A smoke test of two evals blanked the other cells of its model, or was left out with what it said."""
    make_run(
        suite / "runs",
        {EVALS[0]: "f", EVALS[3]: "p"},
        model="acme/model-next",
        date="2026-03-01",
        run_id="p",
        suite_evals=4,
    )
    (first, _) = json.loads(invoke("matrix", "--json").out)["experiments"]
    own = {row["eval"]: row["models"]["acme/model-next"] for row in first["evals"]}
    assert {name: (each["run_id"], each["pass_rate"]) for name, each in own.items()} == {
        EVALS[0]: ("p", 0),
        EVALS[1]: ("whole", 1 / 3),
        EVALS[2]: ("whole", 0),
        EVALS[3]: ("p", 1),
    }
    (column,) = [each for each in first["models"] if each["model"] == "acme/model-next"]
    assert [run["run_id"] for run in column["runs"]] == ["p", "whole"]


def test_a_bad_day_of_a_provider_hides_no_verdict(suite: Path, invoke: Invoke) -> None:
    make_run(
        suite / "runs", dict(zip(EVALS, "upfp", strict=True)), model="acme/model-next", date="2026-03-01", run_id="bad"
    )
    # Of evals that are in no later run of the whole suite, nothing is shown.
    older = {**dict.fromkeys(EVALS, "p"), "002-gone/000-eval": "p"}
    make_run(suite / "runs", older, model="acme/model-next", date="2025-01-01", run_id="older")
    (first, _) = json.loads(invoke("matrix", "--json").out)["experiments"]
    own = {row["eval"]: row["models"].get("acme/model-next", {}).get("run_id") for row in first["evals"]}
    assert own == {EVALS[0]: "whole", EVALS[1]: "bad", EVALS[2]: "bad", EVALS[3]: "bad"}
