"""`cli validate --since`: what a branch touches is graded, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import command
from tests.conftest import Invoke
from tests.end_to_end.repositories import git
from tests.factories import GRADER, QUERY, make_eval, make_git_repo, write_files

pytestmark = pytest.mark.full

IDENTITY = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
FIRST, SECOND, THIRD = (f"000-fundamentals/00{n}-answer" for n in range(3))
SHARED = 'import { wanted } from "../../../shared";\n' + GRADER.replace("toBe(42)", "toBe(wanted)")


def commit(folder: Path, message: str = "Change") -> None:
    git(folder, "add", "-A")
    git(folder, *IDENTITY, "commit", "-q", "-m", message)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Three evals on `main`, the third with a grader that imports `shared.ts`; a branch is checked out."""
    folder = tmp_path / "suite"
    for n, eval_id in enumerate((FIRST, SECOND, THIRD)):
        wrong = {"convex/main.ts": QUERY.replace("42", "41"), "reason.txt": "Another number.\ncaught by: tests\n"}
        make_eval(folder, eval_id, {"grader.test.ts": SHARED} if n == 2 else None)
        write_files(folder / "evals" / eval_id / "wrong" / "other-number", wrong)
    write_files(folder, {"shared.ts": "export const wanted = 42;\n", "README.md": "Evals.\n", ".gitignore": ".cache\n"})
    make_git_repo(folder)
    git(folder, "checkout", "-q", "-b", "change")
    return folder


def validate(suite: Path, *more: str) -> tuple[int, dict[str, object]]:
    done = command(suite, "validate", "--since", "main", "--no-foils", "--json", *more)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def graded(found: dict[str, object]) -> set[str]:
    return {project["eval"] for project in found["projects"]}  # type: ignore[attr-defined]


@pytest.mark.grading
def test_only_what_the_branch_touches_is_graded(suite: Path, toolchain: Path) -> None:
    path = suite / "evals" / FIRST / "TASK.txt"
    path.write_text(path.read_text() + "Nothing else.\n")
    commit(suite)
    # What others do on main meanwhile is not the branch's.
    git(suite, "checkout", "-q", "main")
    write_files(suite / "evals" / SECOND, {"TASK.txt": "Answer 42 when main:answer is asked.\n"})
    commit(suite)
    git(suite, "checkout", "-q", "change")
    status, found = validate(suite, "--summary", str(suite / "summary.md"))
    assert (status, graded(found)) == (0, {FIRST})
    assert f"`{FIRST}`" in (suite / "summary.md").read_text() and SECOND not in (suite / "summary.md").read_text()
    write_files(suite, {"shared.ts": "export const wanted = 40 + 2;\n"})
    status, found = validate(suite)
    assert (status, graded(found)) == (0, {FIRST, THIRD}), "not committed yet, and imported"
    status, found = validate(suite, "-f", "002")
    assert (status, graded(found)) == (0, {THIRD})
    write_files(
        suite / "evals" / SECOND / "wrong" / "new", {"convex/main.ts": QUERY, "reason.txt": "None.\ncaught by: tests"}
    )
    status, found = validate(suite)
    assert (status, graded(found)) == (4, {FIRST, SECOND, THIRD})


@pytest.mark.grading
def test_a_grader_that_the_branch_broke_through_an_import_is_off(suite: Path, toolchain: Path) -> None:
    write_files(suite, {"shared.ts": "export const wanted = ;\n"})
    write_files(suite / "evals" / FIRST, {"TASK.txt": "Answer 42.\n"})
    status, found = validate(suite)
    assert status == 4 and "shared.ts" in str(found["complaints"]) and graded(found) == {FIRST, THIRD}


@pytest.mark.grading
def test_what_no_grader_imports_touches_no_eval(suite: Path, toolchain: Path) -> None:
    write_files(suite, {"README.md": "Other evals.\n"})
    # Nor is an eval that lacks something the branch's business.
    (suite / "evals" / SECOND / "TASK.txt").unlink()
    commit(suite, "Without a task")
    git(suite, "branch", "-f", "main", "change")
    write_files(suite, {"README.md": "Still other evals.\n"})
    assert validate(suite) == (0, {"clean": True, "complaints": [], "type_errors": [], "evals": [], "projects": []})


def test_a_branch_without_changes_says_so(suite: Path, invoke: Invoke) -> None:
    result = invoke("validate", "--since", "main", "--summary", "summary.md", cwd=suite)
    assert (result.status, result.out) == (0, "No eval was changed since main.\n")
    assert (suite / "summary.md").read_text() == "No eval was changed since main.\n"


def test_a_revision_that_means_nothing(suite: Path, invoke: Invoke, tmp_path: Path) -> None:
    assert "--since v9: no such revision" in invoke("validate", "--since", "v9", cwd=suite).err
    git(suite, "checkout", "-q", "--orphan", "alone")
    commit(suite, "Begin again")
    result = invoke("validate", "--since", "main", cwd=suite)
    assert result.status == 1 and "has no commit in common" in result.err and "name another revision" in result.err
    git(suite, "checkout", "-q", "-f", "change")
    write_files(suite, {"README.md": "Later.\n"})
    commit(suite)
    git(tmp_path, "clone", "-q", "--depth=1", "-b", "change", f"file://{suite}", "shallow")
    git(tmp_path / "shallow", "fetch", "-q", "--depth=1", "origin", "main:refs/remotes/origin/main")
    result = invoke("validate", "--since", "origin/main", cwd=tmp_path / "shallow")
    assert result.status == 1 and "git fetch --unshallow" in result.err
