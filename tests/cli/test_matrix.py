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
    board = Ranker(RunStore(workspace.runs_dir), workspace.config, BenchmarkFolder(suite), latest=1).newest_of_each()
    drawn = ["".join(text for text, _ in line) for line in lines(matrix_section(make_matrices(board), board), width)]
    assert max(map(len, drawn)) <= width
    golden(f"matrix-{width}.txt", "\n".join(drawn) + "\n")


def test_for_machines(suite: Path, invoke: Invoke) -> None:
    first, second = json.loads(invoke("matrix", "--json").out)["experiments"]
    assert (first["experiment"], second["experiment"]) == ("default", "no_guidelines")
    assert [run["model"] for run in first["runs"]] == ["acme/model-best", "big-lab/model-of-two", "acme/model-next"]
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
    assert [run["model"] for run in only["runs"]] == ["acme/model-next"]
    assert "No run to show in" in invoke("matrix", "-e", "web_search").out
    assert invoke("matrix", "-e", "nothing").status == 1
