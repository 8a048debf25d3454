"""Each format to the letter, and texts of others that stay texts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from convex_evals.exports import EXPORTS, deepeval, inspect_log
from convex_evals.exports.columns import COLUMNS
from convex_evals.exports.writing import notes
from convex_evals.records import Outcome
from convex_evals.records.generation import Usage
from convex_evals.render import parquet as parquet_writer
from convex_evals.store.run import Run
from convex_evals.suite.extract import extract
from convex_evals.text import spelled_out, well_formed
from tests.exports.runs import FIRST, OUTCOMES, REASON, REPLY, SECOND, exported, make_suite, run_of, written
from tests.factories import make_failure
from tests.tier import examples

Golden = Callable[[str, str], None]
TEXT = st.text(max_size=40) | st.sampled_from(["=1+1", "\ud800", "]]>", "\x00", "&lt;", "a\r\nb", "\ufffe", "'x"])


def cells(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


@pytest.mark.parametrize(
    ("form", "suffix"), [("csv", "csv"), ("junit", "xml"), ("deepeval", "json"), ("inspect-log", "json")]
)
def test_a_run_in_each_format(form: str, suffix: str, tmp_path: Path, golden: Golden) -> None:
    run = make_suite(tmp_path)
    golden(f"exports/{form}.{suffix}", written(form, exported(tmp_path, run)).decode())


@pytest.mark.parametrize("form", EXPORTS)
def test_the_same_runs_make_the_same_bytes(form: str, tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    assert written(form, exported(tmp_path, run)) == written(form, exported(tmp_path, run))


def test_parquet_has_the_columns_of_csv_with_types_and_the_replies(tmp_path: Path) -> None:
    runs = exported(tmp_path, make_suite(tmp_path))
    table = parquet.read_table(io.BytesIO(written("parquet", runs)))
    rows, lines = table.to_pylist(), cells(written("csv", runs))
    assert table.column_names == [*(column.name for column in COLUMNS), "reply", "tests"]
    assert len(rows) == len(lines) == 6
    for row, line in zip(rows, lines, strict=True):
        for column in COLUMNS:
            value = row[column.name]
            shown = "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
            assert spelled_out(shown) == line[column.name].removeprefix("'"), column.name
    assert [row["reply"] for row in rows] == [REPLY, REPLY, None, REPLY, REPLY, REPLY]
    assert rows[5]["reason"] == REASON
    assert [test["name"] for test in rows[0]["tests"]] == ["answers"]


@pytest.mark.parametrize(("form", "before"), [("deepeval", 0), ("inspect-log", 1), ("parquet", 0)])
def test_one_reply_is_in_memory_at_a_time(
    form: str, before: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece of a file needs one more reply; `before` pieces need none."""
    monkeypatch.setattr(parquet_writer, "_MOST_ROWS", 1)
    run = make_suite(tmp_path, dict.fromkeys(OUTCOMES, "ppp"))
    read: list[str] = []
    own = Run.reply

    def reply(run: Run, eval_id: str, trial: int) -> str | None:
        read.append(eval_id)
        return own(run, eval_id, trial)

    monkeypatch.setattr(Run, "reply", reply)
    pieces = EXPORTS[form].write(exported(tmp_path, run))
    seen = []
    for _ in range(before + 6):
        next(pieces)
        seen.append(len(read))
    assert seen == [*[0] * before, 1, 2, 3, 4, 5, 6]


def test_junit_counts_what_it_holds(tmp_path: Path) -> None:
    runs = exported(tmp_path, make_suite(tmp_path), run_of(tmp_path, {FIRST: "pf"}, run_id="two"))
    root = ElementTree.fromstring(written("junit", runs))
    suites = list(root)
    assert [len(suite.findall("testcase")) for suite in suites] == [6, 2]
    for element in (root, *suites):
        cases = list(element.iter("testcase"))
        assert int(element.attrib["tests"]) == len(cases)
        assert int(element.attrib["failures"]) == len(list(element.iter("failure")))
        assert int(element.attrib["errors"]) == len(list(element.iter("error")))
        assert float(element.attrib["time"]) == pytest.approx(sum(float(case.attrib["time"]) for case in cases))
    # What tells a case in one report from the same case in the next one.
    names = [(case.attrib["classname"], case.attrib["name"]) for case in suites[0].iter("testcase")]
    assert len(set(names)) == len(names)


@given(text=TEXT)
@settings(max_examples=examples(50), suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_text_arrives(text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A reason of any characters is the same in every format; where one cannot be written, it is spelled out."""
    folder = tmp_path_factory.mktemp("suite")
    failure = make_failure({"tsc": text or "x"})
    run = make_suite(folder, {FIRST: "f"}, failures={FIRST: failure})
    reason = well_formed(run.grade(FIRST).trials[0].verdict.reason or "")
    runs = exported(folder, run)
    found = ElementTree.fromstring(written("junit", runs)).find("testsuite/testcase/failure")
    assert found is not None and found.text == spelled_out(reason)
    (line,) = cells(written("csv", runs))
    assert line["reason"] in (spelled_out(reason), f"'{spelled_out(reason)}")
    (row,) = parquet.read_table(io.BytesIO(written("parquet", runs))).to_pylist()
    (case,) = json.loads(written("deepeval", runs))
    (sample,) = json.loads(written("inspect-log", runs))["samples"]
    assert row["reason"] == case["comments"] == sample["scores"]["verdict"]["explanation"] == reason


def test_deepeval_leaves_out_what_has_no_reply_or_task_and_says_so(tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    (tmp_path / "evals" / SECOND / "TASK.txt").write_text("Another task.\n")
    runs = exported(tmp_path, run)
    found = json.loads(written("deepeval", runs))
    assert [each["name"] for each in found] == [f"{FIRST} #1", f"{FIRST} #2"]
    assert extract(found[0]["expected_output"]).files["convex/main.ts"].startswith("import { query }")
    assert notes(runs) == [f"left out 1 trial: {deepeval.NO_REPLY}", f"left out 3 trials: {deepeval.NO_TASK}"]


def test_deepeval_without_a_row_is_an_empty_list(tmp_path: Path) -> None:
    runs = exported(tmp_path, make_suite(tmp_path, {FIRST: "u"}))
    assert written("deepeval", runs) == b"[]\n"


def test_pruned_replies_are_missing_and_nothing_else(tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    before = cells(written("csv", exported(tmp_path, run)))
    run.prune("2026-02-01")
    runs = exported(tmp_path, run)
    assert cells(written("csv", runs)) == before
    assert [len(each["messages"]) for each in json.loads(written("inspect-log", runs))["samples"]] == [1] * 6
    assert json.loads(written("deepeval", runs)) == []


def test_inspect_counts_trials_that_have_a_verdict(tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    log = json.loads(written("inspect-log", exported(tmp_path, run)))
    summary = run.summary()
    assert summary is not None
    (verdict, _) = log["results"]["scores"]
    assert verdict["metrics"]["accuracy"]["value"] == summary.counts.pass_rate
    assert (log["results"]["total_samples"], log["results"]["completed_samples"]) == (6, summary.counts.scored)
    assert ["error" in sample for sample in log["samples"]] == [letter == "u" for letter in "pfuppf"]
    assert list(log)[-1] == "samples"


def test_a_run_that_is_not_complete_is_no_success_to_inspect(tmp_path: Path) -> None:
    make_suite(tmp_path)
    run = run_of(tmp_path, {FIRST: "p", SECOND: ""}, run_id="begun", complete=False)
    assert json.loads(written("inspect-log", exported(tmp_path, run)))["status"] == "cancelled"


def test_a_changed_task_is_not_shown_as_the_question(tmp_path: Path) -> None:
    run = make_suite(tmp_path, {FIRST: "p"})
    (tmp_path / "evals" / FIRST / "TASK.txt").write_text("Another task.\n")
    (sample,) = json.loads(written("inspect-log", exported(tmp_path, run)))["samples"]
    assert sample["input"] == inspect_log.NOT_HERE


def test_tokens_of_inspect_are_told_apart_by_the_cache() -> None:
    usage = Usage(input_tokens=100, cached_tokens=30, output_tokens=10, reasoning_tokens=4)
    assert inspect_log.tokens(usage) == {
        "input_tokens": 70,
        "input_tokens_cache_read": 30,
        "output_tokens": 10,
        "reasoning_tokens": 4,
        "total_tokens": 110,
    }


def test_names_of_logs_are_told_apart(tmp_path: Path) -> None:
    make_suite(tmp_path)
    runs = [run_of(tmp_path, run_id=f"r-{n}", model=model) for n, model in enumerate(("acme/m_1", "acme/M_1"))]
    names = [inspect_log.file_name(run) for run in exported(tmp_path, *runs)]
    assert names[0] == "2026-01-31T00-00-00+00-00_default_acme-m-1_r.0.json"
    assert len(set(names)) == 2


@pytest.mark.parametrize("form", EXPORTS)
def test_outcomes_choose_trials(form: str, tmp_path: Path) -> None:
    run = make_suite(tmp_path)
    some = exported(tmp_path, run, outcomes=frozenset({Outcome.FAILED}))
    counts: dict[str, Callable[[bytes], int]] = {
        "csv": lambda data: len(cells(data)),
        "parquet": lambda data: parquet.read_table(io.BytesIO(data)).num_rows,
        "junit": lambda data: len(list(ElementTree.fromstring(data).iter("testcase"))),
        "deepeval": lambda data: len(json.loads(data)),
        "inspect-log": lambda data: len(json.loads(data)["samples"]),
    }
    assert counts[form](written(form, some)) == sum(row.count("f") for row in OUTCOMES.values())
