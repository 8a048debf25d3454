"""Exports of runs, read by those whom they are for: Inspect, DeepEval, pandas, a reader of JUnit's XML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.exports.columns import COLUMNS
from convex_evals.exports.inspect_log import file_name
from convex_evals.store.run import Run
from tests.consumers.libraries import install_libraries, read
from tests.exports.runs import FIRST, REASON, SECOND, exported, make_suite, run_of, written

pytestmark = pytest.mark.full
Export = Callable[[str, str], Path]


@pytest.fixture(scope="module")
def python() -> Path:
    return install_libraries()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return make_suite(tmp_path / "suite")


@pytest.fixture
def export(run: Run, tmp_path: Path) -> Export:
    def export(form: str, name: str) -> Path:
        file = tmp_path / name
        file.write_bytes(written(form, exported(tmp_path / "suite", run)))
        return file

    return export


def test_inspect_reads_a_log(run: Run, export: Export, python: Path, tmp_path: Path) -> None:
    (facts,) = exported(tmp_path / "suite", run)
    file = export("inspect-log", file_name(facts))
    found, source = read(python, "inspect-log", file), json.loads(file.read_bytes())
    assert found["listed"] == [[file.name, "default", "default.00000000"]]
    assert found["head"]["results"]["scores"][0]["metrics"]["accuracy"]["value"] == pytest.approx(3 / 5)
    assert found["head"]["status"] == "success" and "samples" not in found["head"]
    samples = found["log"]["samples"]
    assert [(s["id"], s["epoch"]) for s in samples] == [(e, n) for e in (FIRST, SECOND) for n in (1, 2, 3)]
    for sample, line in zip(samples, source["samples"], strict=True):
        assert (sample["input"], sample["target"]) == (line["input"], line["target"])
        assert [m["content"] for m in sample["messages"]] == [m["content"] for m in line["messages"]]
        assert {k: v["value"] for k, v in sample.get("scores", {}).items()} == {
            k: v["value"] for k, v in line["scores"].items()
        }
    assert samples[5]["scores"]["verdict"]["explanation"] == REASON
    assert samples[2]["error"]["message"] == "no verdict" and not samples[2]["scores"]
    shown = [s["scores"]["verdict"]["value"] if s["scores"] else None for s in found["summaries"]]
    assert shown == ["C", "I", None, "C", "C", "I"]


def test_inspect_reads_a_log_of_a_run_that_is_not_complete(python: Path, tmp_path: Path) -> None:
    make_suite(tmp_path / "suite")
    run = run_of(tmp_path / "suite", {FIRST: "u", SECOND: ""}, run_id="begun", complete=False)
    runs = exported(tmp_path / "suite", run)
    file = tmp_path / file_name(runs[0])
    file.write_bytes(written("inspect-log", runs))
    found = read(python, "inspect-log", file)
    assert found["log"]["status"] == "cancelled" and len(found["log"]["samples"]) == 1


def test_deepeval_reads_test_cases_and_goldens(export: Export, python: Path) -> None:
    file = export("deepeval", "cases.json")
    cases, goldens = read(python, "deepeval", file)
    own = json.loads(file.read_bytes())
    assert cases == goldens == [{key: row[key] for key in cases[0]} for row in own]
    assert len(cases) == 5


def test_a_reader_of_junit(export: Export, python: Path) -> None:
    (suite,) = read(python, "junit", export("junit", "results.xml"))
    assert suite["counts"] == [6, 2, 1, 0]
    assert suite["properties"]["model"] == "acme/model-1"
    results = [case[3] for case in suite["cases"]]
    assert [[kind for kind, *_ in each] for each in results] == [[], ["Failure"], ["Error"], [], [], ["Failure"]]
    assert results[5][0][1] == "tsc" and results[5][0][2].startswith("convex/main.ts(1,1): <T> & \\x1b[31mred")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_pandas_reads_rows(form: str, export: Export, python: Path) -> None:
    found = read(python, "table", export(form, f"trials.{form}"))
    assert set(found["types"]) >= {column.name for column in COLUMNS}
    assert [row["outcome"] for row in found["rows"]] == ["passed", "failed", "unscored", "passed", "passed", "failed"]
    assert found["types"]["cost_usd"] == "float64" and found["types"]["output_tokens"] == "int64"
    assert found["types"]["received"] == "bool"
