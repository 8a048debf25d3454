"""`cli benchmark mint` of the suite as it is committed, with the real toolchain."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.end_to_end.repositories import git
from tests.end_to_end.test_grading import cli
from tests.factories import GRADER, make_eval, make_git_repo, write_files

pytestmark = [pytest.mark.grading, pytest.mark.usefixtures("toolchain")]
EVAL, NEW = "000-fundamentals/000-answer", "000-fundamentals/001-new"


def test_the_committed_suite_is_minted(tmp_path: Path) -> None:
    make_eval(tmp_path, EVAL)
    write_files(tmp_path, {"guidelines/convex.md": "# Rules\n", ".gitignore": "runs/\n.cache/\n"})
    make_git_repo(tmp_path)
    done = cli(tmp_path, "benchmark", "mint", "v1")
    assert done.returncode == 0 and "1 eval under default; 0 runs of it so far" in done.stdout, done.stderr
    # A benchmark is a result, so the suite is as committed as before; a grader is not.
    done = cli(tmp_path, "benchmark", "mint", "v2")
    assert done.returncode == 1 and "nothing has changed since v1 was minted" in done.stderr
    write_files(tmp_path / "evals" / EVAL, {"grader.test.ts": GRADER.replace("answers", "answers well")})
    done = cli(tmp_path, "benchmark", "mint", "v2")
    assert done.returncode == 1 and "has changes that are not committed" in done.stderr
    make_eval(tmp_path, NEW)
    write_files(tmp_path, {"guidelines/convex.md": "# Other rules\n"})
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-q", "-m", "Grow")
    done = cli(tmp_path, "benchmark", "mint", "v2", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["suite_commit"] == git(tmp_path, "rev-parse", "HEAD")
    found = json.loads(cli(tmp_path, "benchmark", "diff", "v1", "v2", "--json").stdout)
    assert found["asked"] == ["guidelines"] and found["evals"] == {EVAL: "grader", NEW: "added"}
