from __future__ import annotations

import re
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.records import Pipeline, StepName
from convex_evals.records.hashes import sha256_files
from convex_evals.suite.suite import load_suite, refuse_incomplete
from convex_evals.vcs.git import clean_commit
from tests.factories import PACKAGE_JSON, QUERY, make_eval, make_git_repo, write_files


def test_every_file_of_a_project_is_kept_whichever_folder_it_is_in(tmp_path: Path) -> None:
    own = {
        *("package.json", "convex.json", "tsconfig.json", "convex/main.ts", "src/App.tsx", "src/app.css", "index.html"),
        *("src/old.js", "db/schema.sql", "main.py", "README.md", "Makefile", ".gitignore", ".env.example"),
    }
    not_own = {
        *("node_modules/a/index.js", "convex/_generated/api.js", ".git/HEAD"),
        *(".DS_Store", "src/.main.ts.swp", "convex/main.ts~", "src/#main.ts#", "Thumbs.db", ".env", ".env.local"),
    }
    folder = make_eval(tmp_path)
    for kind in ("answer", "wrong/a", "accept/a"):
        write_files(folder / kind, dict.fromkeys(own | not_own, "x"))
    (folder / "answer" / ".DS_Store").write_bytes(b"\0\0\0\1Bud1\xff")
    write_files(folder / "wrong" / "a", {"reason.txt": "x\ncaught by: tests"})
    [ev] = load_suite(tmp_path).evals
    for project in (ev.answer(), *ev.wrong(), *ev.accept()):
        assert set(project.files) == own, project.label


def test_a_wrong_project_is_an_overlay_or_a_whole(tmp_path: Path) -> None:
    folder = make_eval(tmp_path)
    write_files(folder / "wrong" / "overlay", {"convex/main.ts": "1", "reason.txt": "No query.\nCaught by: TESTS\n"})
    write_files(folder / "wrong" / "whole", {"package.json": "{}", "reason.txt": "Nothing.\ncaught by: deploy"})
    write_files(folder / "wrong" / "zless", {"delete.txt": "convex/main.ts\n", "reason.txt": "Gone.\ncaught by: tests"})
    overlay, whole, less = load_suite(tmp_path).evals[0].wrong()
    assert dict(overlay.files) == {"convex/main.ts": "1", "package.json": PACKAGE_JSON}
    assert (dict(whole.files), whole.caught_by) == ({"package.json": "{}"}, StepName.DEPLOY)
    assert dict(less.files) == {"package.json": PACKAGE_JSON}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"wrong/a/convex/x.ts": ""}, "no reason.txt"),
        (
            {"wrong/a/reason.txt": "Something."},
            "the last line must be 'caught by: STEP', STEP one of filesystem, install",
        ),
        ({"wrong/a/reason.txt": "x\ncaught by: nobody"}, "the last line must be"),
        (
            {"wrong/a/reason.txt": "x\ncaught by: tests", "wrong/a/delete.txt": "nope.ts"},
            "'nope.ts' is not a file of the answer",
        ),
    ],
)
def test_wrong_projects_say_what_is_wrong(files: dict[str, str | None], message: str, tmp_path: Path) -> None:
    make_eval(tmp_path, files=files)
    with pytest.raises(UserError, match=message):
        load_suite(tmp_path).evals[0].wrong()


def test_selecting(tmp_path: Path) -> None:
    for name in ("000-fundamentals/000-a", "000-fundamentals/001-b", "001-queries/000-a"):
        make_eval(tmp_path, name)
    suite = load_suite(tmp_path)
    assert [e.id for e in suite.select(["a$"])] == ["000-fundamentals/000-a", "001-queries/000-a"]
    assert [e.id for e in suite.select(categories=["queries"])] == ["001-queries/000-a"]
    for patterns, categories, message in [
        (["nope"], [], "no eval matches -f 'nope'; `cli list evals` shows all 3"),
        (["b$"], ["queries"], "no eval matches -f 'b$' -c 'queries'; "),
        (["("], [], "-f '(': not a regular expression"),
        ([], ["querys"], "did you mean 'queries'"),
        ([], ["zzz"], "available: 000-fundamentals, 001-queries"),
    ]:
        with pytest.raises(UserError, match=re.escape(message)):
            suite.select(patterns, categories)


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], ["a/one", "a/two", "b/one", "b/three"]),
        (["two", "^b/"], ["a/two", "b/one", "b/three"]),
        (["!one"], ["a/two", "b/three"]),
        (["!one", "!three"], ["a/two"]),
        (["^b/", "!one"], ["b/three"]),
        (["!one", "one", "two"], ["a/two"]),
        ([""], ["a/one", "a/two", "b/one", "b/three"]),
    ],
)
def test_any_pattern_chooses_and_exclusions_win(patterns: list[str], chosen: list[str], tmp_path: Path) -> None:
    for name in ("a/one", "a/two", "b/one", "b/three"):
        make_eval(tmp_path, name)
    assert [e.id for e in load_suite(tmp_path).select(patterns)] == chosen


def test_every_tag_must_be_there(tmp_path: Path) -> None:
    make_eval(tmp_path, "a/one", {"eval.yaml": "tags: [indexes, pagination]"})
    make_eval(tmp_path, "a/two", {"eval.yaml": "tags: [indexes]"})
    make_eval(tmp_path, "b/one")
    suite = load_suite(tmp_path)
    assert [e.id for e in suite.select(tags=["indexes"])] == ["a/one", "a/two"]
    assert [e.id for e in suite.select(tags=["indexes", "pagination"])] == ["a/one"]
    assert [e.id for e in suite.select(["!one"], ["a"], ["indexes"])] == ["a/two"]
    for tags, message in [
        (["index"], "--tag index: no eval has it; did you mean 'indexes'?"),
        (["zzz"], "--tag zzz: no eval has it; `cli list evals` shows the tags of each"),
    ]:
        with pytest.raises(UserError, match=re.escape(message)):
            suite.select(tags=tags)
    with pytest.raises(UserError, match="no eval matches -f 'two' --tag 'pagination'; `cli list evals` shows all 3"):
        suite.select(["two"], tags=["pagination"])


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("TASK.txt", "no TASK.txt; write what the model is asked"),
        ("grader.test.ts", "no grader.test.ts; write the grader"),
        ("answer", "no answer/; write the reference project"),
    ],
)
def test_an_incomplete_eval_is_named(missing: str, message: str, tmp_path: Path) -> None:
    without = dict.fromkeys(["answer/package.json", "answer/convex/main.ts", "answer/convex/_generated/api.js"])
    make_eval(tmp_path, files=without if missing == "answer" else {missing: None})
    with pytest.raises(UserError, match=message):
        refuse_incomplete(load_suite(tmp_path).select())


def test_a_bad_settings_file_is_its_evals_problem(tmp_path: Path) -> None:
    make_eval(tmp_path, "000-a/000-good")
    make_eval(tmp_path, "000-a/001-bad", {"eval.yaml": "packages: 2026-13-45"})
    suite = load_suite(tmp_path)
    refuse_incomplete(suite.select(["good"]))
    with pytest.raises(UserError, match=r"eval\.yaml: a value is not valid: month must be in"):
        refuse_incomplete(suite.select())


def test_settings_may_be_json(tmp_path: Path) -> None:
    make_eval(tmp_path, files={"eval.json": '\ufeff{"pipeline": "static", "owner": "somebody"}'})
    assert load_suite(tmp_path).evals[0].config.pipeline is Pipeline.STATIC


def test_fingerprints_do_not_depend_on_line_ends(tmp_path: Path) -> None:
    make_eval(tmp_path / "a")
    folder = make_eval(tmp_path / "b")
    (folder / "answer/convex/main.ts").write_bytes(QUERY.replace("\n", "\r\n").encode())
    one, other = (load_suite(tmp_path / name).evals[0].answer().files for name in "ab")
    assert sha256_files(one) == sha256_files(other)
    assert sha256_files({"a": "b"}) != sha256_files({"ab": ""})


def test_the_commit_of_a_clean_suite(tmp_path: Path) -> None:
    make_eval(tmp_path)
    assert clean_commit(tmp_path) is None
    make_git_repo(tmp_path)
    commit = clean_commit(tmp_path)
    assert commit and len(commit) == 40
    before = (tmp_path / ".git" / "index").read_bytes()
    (tmp_path / "evals/000-fundamentals/000-answer/TASK.txt").touch()
    write_files(tmp_path, {"runs/a.json": "", ".cache/x": ""})
    assert clean_commit(tmp_path) == commit
    assert (tmp_path / ".git" / "index").read_bytes() == before
    write_files(tmp_path, {"grader/index.ts": ""})
    assert clean_commit(tmp_path) is None
