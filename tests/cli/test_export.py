"""`cli export`, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from convex_evals.cli.commands.export import FORMATS, OUTCOMES
from convex_evals.exports import EXPORTS
from convex_evals.records import Outcome
from tests.conftest import Invoke
from tests.exports.runs import FIRST, SECOND, make_suite, run_of


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    make_suite(tmp_path, run_id="one")
    run_of(tmp_path, {FIRST: "p", SECOND: ""}, run_id="begun", complete=False)
    return tmp_path


def test_words_are_those_of_the_registry() -> None:
    assert tuple(EXPORTS) == FORMATS
    assert tuple(Outcome) == OUTCOMES


def test_stdout_is_the_file_and_nothing_else(suite: Path, invoke: Invoke) -> None:
    done = invoke("export", "one", "begun", "--format", "junit")
    assert len(ElementTree.fromstring(done.out).findall("testsuite")) == 2
    assert done.err == "left out 1 eval: not done yet\n"


def test_a_file(suite: Path, invoke: Invoke) -> None:
    done = invoke("export", "one", "--format", "deepeval", "--outcome", "failed", "-o", "new/cases.json")
    assert (done.out, done.err) == ("", "1 run written to new/cases.json\n")
    assert len(json.loads((suite / "new/cases.json").read_bytes())) == 2


def test_a_folder_of_logs(suite: Path, invoke: Invoke) -> None:
    done = invoke("export", "one", "begun", "--format", "inspect-log", "-o", "logs")
    assert done.err == "2 logs written to logs\nleft out 1 eval: not done yet\n"
    assert sorted(path.name for path in (suite / "logs").iterdir()) == [
        "2026-01-31T00-00-00+00-00_default_acme-model-1_begun.json",
        "2026-01-31T00-00-00+00-00_default_acme-model-1_one.json",
    ]
    assert json.loads(invoke("export", "one", "--format", "inspect-log").out)["status"] == "success"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--format", "csv"], 2, "Missing argument 'RUN...'"),
        (["one"], 2, "Missing option '--format'"),
        (["one", "--format", "xml"], 2, "'xml' is not one of"),
        (["one", "--format", "parquet"], 2, "--format parquet is no text: give a file, -o trials.parquet"),
        (["one", "begun", "--format", "inspect-log"], 2, "a file for each of 2 runs: give a folder, -o logs"),
        (["nothing", "--format", "csv"], 1, "nothing: no such run in"),
        (["date=2020-01", "--format", "csv"], 1, "date=2020-01: no run in"),
        (["one", "--format", "csv", "-o", "runs"], 1, "cannot write runs: "),
        (["one", "--format", "inspect-log", "-o", "models.yaml"], 1, "cannot write models.yaml"),
    ],
)
def test_what_is_refused(words: list[str], status: int, message: str, suite: Path, invoke: Invoke) -> None:
    (suite / "models.yaml").write_text("models: []\n")
    done = invoke("export", *words)
    assert done.status == status and message in done.err and "Traceback" not in done.err and not done.out


def test_a_broken_file_is_one_line_and_leaves_the_old_export(suite: Path, invoke: Invoke) -> None:
    (suite / "trials.csv").write_text("before\n")
    (grade,) = (suite / "runs").glob(f"acme/model-1/*/one/evals/{SECOND}/grade.*.json")
    grade.write_text("{")
    done = invoke("export", "one", "--format", "csv", "-o", "trials.csv")
    assert done.status == 1 and done.err.count("\n") == 1 and grade.name in done.err
    assert [path.name for path in suite.iterdir() if path.is_file()] == ["trials.csv"]
    assert (suite / "trials.csv").read_text() == "before\n"
