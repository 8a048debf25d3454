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
    every = "default, no_guidelines, web_search and web_search_no_guidelines"
    assert done.returncode == 0 and f"1 eval under {every}; 0 runs of it so far" in done.stdout, done.stderr
    # A benchmark is a result, so the suite is as committed as before; a grader is not.
    done = cli(tmp_path, "benchmark", "mint", "v2", "-e", "default")
    assert done.returncode == 1 and "nothing has changed since v1 was minted" in done.stderr
    write_files(tmp_path / "evals" / EVAL, {"grader.test.ts": GRADER.replace("answers", "answers well")})
    done = cli(tmp_path, "benchmark", "mint", "v2")
    assert done.returncode == 1 and "has changes that are not committed" in done.stderr
    make_eval(tmp_path, NEW)
    write_files(tmp_path, {"guidelines/convex.md": "# Other rules\n"})
    git(tmp_path, "add", "-A")
    git(tmp_path, "-c", "user.name=Test", "-c", "user.email=test@example.org", "commit", "-q", "-m", "Grow")
    done = cli(tmp_path, "benchmark", "mint", "v2", "-e", "no_guidelines,default", "--json")
    minted = json.loads(done.stdout)
    assert done.returncode == 0 and minted["suite_commit"] == git(tmp_path, "rev-parse", "HEAD")
    assert list(minted["experiments"]) == ["default", "no_guidelines"]
    found = json.loads(cli(tmp_path, "benchmark", "diff", "v1", "v2", "--json").stdout)
    assert found["evals"] == {EVAL: "grader", NEW: "added"}
    gone = dict.fromkeys(("web_search", "web_search_no_guidelines"), "only in v1")
    assert found["asked"] == {"default": "asked with other guidelines", **gone}
    # An experiment may be added later, and what is not one of the settings is refused.
    done = cli(tmp_path, "benchmark", "mint", "v3")
    assert done.returncode == 0 and f"2 evals under {every}" in done.stdout, done.stderr
    done = cli(tmp_path, "benchmark", "mint", "v4", "-e", "defualt")
    assert done.returncode == 1 and "defualt" in done.stderr and done.stderr.count("\n") == 1
