"""Records that somebody else wrote: names in them lead nowhere, and each is what its place says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from convex_evals.records.names import is_eval_id
from tests.conftest import Invoke
from tests.factories import edit_json
from tests.store.hostile import EVAL, READS, SECRET, WRITES, refused, run_folder, tree

pytestmark = pytest.mark.full


def test_all_of_them_work_on_honest_records(suite: Path, invoke: Invoke) -> None:
    for command in (*READS, *WRITES[:-2]):
        result = invoke(*command, cwd=suite)
        assert result.status == 0, (command, result)


NAMES = (
    "/../../victim",
    "../../../../../victim",
    "..",
    "victim/../..",
    "{victim}",
    "default-after/../../../../../../victim",
    "default-after\0",
    "*",
    "DEFAULT-AFTER",
    "default-before",
    "default-after\n::error::x",
    "",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_run_leads_nowhere(name: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    victim = tmp_path / "victim"
    (victim / EVAL).mkdir(parents=True)
    (victim / "precious.txt").write_text("kept")
    edit_json(run_folder(suite) / "run.json", run_id=name.format(victim=victim))
    before, beside = tree(victim), set(tmp_path.iterdir())
    runs = tree(suite / "runs")
    for command in (*READS[2:4], *WRITES[:3]):
        refused(invoke(*command, cwd=suite))
    assert tree(victim) == before and set(tmp_path.iterdir()) == beside
    assert tree(suite / "runs") == runs


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("date", "../../../../victim"),
        ("date", "2026-02-02"),
        ("date", "20260201"),
        ("model", "../../victim/x"),
        ("model", "other/model"),
        ("model", "acme"),
        ("model", "acme/\x1b[31m"),
        ("model", "acme/" + "x" * 5_000),
        ("experiment", "x\n::error::y"),
        ("experiment", "../x"),
        ("trials", 10**9),
        ("trials", 0),
        ("trials", 1.5),
        ("evals", {"../../../../../../victim/x": None}),
        ("evals", {"000-fundamentals/*": None}),
        ("evals", {"000-fundamentals/[a-z]": None}),
        ("evals", {"000-fundamentals": None}),
        ("evals", {"/etc/passwd": None}),
        ("evals", {"a/b/c": None}),
        ("evals", {"a/..": None}),
        ("evals", {"a/b\u202ec": None}),
        ("suite_commit", "--output=/tmp/x"),
        ("suite_commit", "HEAD"),
        ("guidelines_sha256", "x" * 64),
    ],
)
def test_every_identity_has_a_pattern(key: str, value: Any, suite: Path, invoke: Invoke) -> None:
    path = run_folder(suite) / "run.json"
    if key == "evals":
        planned = json.loads(path.read_text())["evals"][EVAL]
        value = dict.fromkeys(value, planned)
    edit_json(path, **{key: value})
    before = tree(suite)
    for command in (*READS[:4], *WRITES[:3]):
        refused(invoke(*command, cwd=suite))
    assert tree(suite) == before


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("summary.json", {"run_id": "default-before"}),
        ("summary.json", {"run_id": "../../victim"}),
        ("summary.json", {"model": "acme/best"}),
        ("summary.json", {"date": "2027-01-01"}),
        ("summary.json", {"missing": ["../../x"]}),
        ("summary.json", {"missing": ["a/other"]}),
        ("summary.json", {"categories": {}}),
        ("summary.json", {"unscored": {"a\n::error::b": 1}}),
        ("evals/{eval}/generation.json", {"eval": "a/other"}),
        ("evals/{eval}/generation.json", {"generation_key": "../../x"}),
        ("evals/{eval}/grade.66666666.json", {"eval": "a/other"}),
        ("evals/{eval}/grade.66666666.json", {"grading_key": "7" * 64}),
        ("evals/{eval}/grade.66666666.json", {"trials": []}),
    ],
)
def test_what_a_file_says_is_what_its_place_says(
    file: str, changes: dict[str, Any], suite: Path, invoke: Invoke
) -> None:
    edit_json(run_folder(suite) / file.format(eval=EVAL), **changes)
    found = [invoke(*command, cwd=suite) for command in READS]
    assert {r.status for r in found} <= {0, 1}
    assert any(r.status == 1 for r in found)
    for result in found:
        if result.status:
            refused(result)


@pytest.mark.parametrize("grade", ["../../../../../../../victim.json", "/etc/passwd", "grade.*.json", "run.json", ""])
def test_a_grade_file_is_one_of_its_eval(grade: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    path = run_folder(suite) / "summary.json"
    data = json.loads(path.read_text())
    data["evals"][EVAL]["grade"] = grade
    path.write_text(json.dumps(data))
    (tmp_path / "victim.json").write_text(json.dumps({"kind": "grade", "schema": 1, "eval": SECRET}))
    for command in READS[2:6]:
        result = invoke(*command, cwd=suite)
        refused(result)
        assert SECRET not in result.err


@pytest.mark.parametrize("name", ["*", "a[b]", "x|y", "<b>", "a\nb", "a:b", "-x", "a?"])
def test_an_eval_that_no_folder_of_results_can_have_is_told_before_anything_is_asked(name: str) -> None:
    assert not is_eval_id(f"000-x/{name}") and not is_eval_id(f"{name}/000-x")


@pytest.mark.parametrize("name", ["000-answer", "Über (2)", "a b", "v1.2+x", "日本語", "_private", "a=b,c", "x" * 100])
def test_usual_names_of_evals_stay_what_they_are(name: str) -> None:
    assert is_eval_id(f"000-x/{name}") and is_eval_id(f"{name}/000-x")


def test_a_copied_run_is_refused(suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    shutil.copytree(run_folder(suite), tmp_path / "a" / "b" / "c" / "default-after")
    refused(invoke("show", str(tmp_path / "a" / "b" / "c" / "default-after"), cwd=suite))
