"""Runs and Git: commits of exactly a run's files, pushes among others."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.runs.delivery import Delivery
from convex_evals.runs.shard import Shard
from convex_evals.vcs.commits import open_branch
from tests.conftest import Invoke
from tests.end_to_end.repositories import EVAL, deliver, fabricate, git
from tests.factories import (
    make_eval,
    make_git_repo,
    make_run,
    write_files,
)

pytestmark = pytest.mark.full


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A bare repository with one commit on `main`."""
    seed = tmp_path / "seed"
    make_git_repo(write_files(seed, {"README.md": "seed\n", "code.ts": "1\n", "evals/note.txt": "x\n"}))
    git(tmp_path, "clone", "-q", "--bare", str(seed), "origin.git")
    return tmp_path / "origin.git"


@pytest.fixture
def clone(origin: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        folder = origin.parent / name
        git(origin.parent, "clone", "-q", str(origin), name)
        git(folder, "config", "user.name", "Test")
        git(folder, "config", "user.email", "test@example.org")
        return folder

    return make


def test_a_run_that_scored_nothing_is_left_out(clone: Callable[[str], Path]) -> None:
    mine = clone("mine")
    scored, stuck = (make_run(mine / "runs", {EVAL: row}, run_id=f"default-{row}") for row in ("pu", "uu"))
    delivery = Delivery(open_branch(mine, push=False), False)
    lines = delivery.deliver([scored, stuck])
    assert lines[0] == "Not committed, since no trial was scored: default-uu" and lines[1].startswith(
        "Committed to main"
    )
    assert "default-uu" not in git(mine, "ls-files")
    assert delivery.deliver([stuck]) == ["Not committed, since no trial was scored: default-uu"]
    # A share may be empty, and a plan has no results yet.
    (empty,) = [Shard(i, 2) for i in (1, 2) if not Shard(i, 2).share([EVAL])]
    assert delivery.deliver([stuck], shard=empty)[0].startswith("Committed to main")
    assert delivery.deliver([stuck], "plan") == ["Nothing to commit to main"]


def test_only_the_runs_files_are_committed_whatever_else_is_dirty(clone: Callable[[str], Path], origin: Path) -> None:
    mine, other = clone("mine"), clone("other")
    write_files(mine, {"code.ts": "2\n", "staged.ts": "s\n", "loose.txt": "l\n", ".gitignore": "runs/\n"})
    git(mine, "add", "staged.ts")
    before = git(mine, "status", "--porcelain")
    write_files(other, {"README.md": "other\n"})
    git(other, "commit", "-qam", "Other")
    git(other, "push", "-q")
    run = fabricate(mine)
    lines = deliver(run)
    assert lines[1:] == ["Pushed to origin/main"]
    changed = git(origin, "diff", "--name-only", "main~1", "main").splitlines()
    top = run.folder.relative_to(mine).as_posix()
    assert changed == sorted(
        f"{top}/{p}"
        for p in ("run.json", *(f"evals/{EVAL}/{n}" for n in ("1.md", "generation.json", "grade.66666666.json")))
    )
    assert git(origin, "log", "-1", "--format=%s", "main") == (
        "chore(runs): add reference/answers default: 1/1 passed (100%)"
    )
    # The branch followed what was pushed, and nothing of the user's moved.
    assert git(mine, "rev-parse", "main") == git(origin, "rev-parse", "main")
    assert git(mine, "status", "--porcelain") == before
    assert (mine / "README.md").read_text() == "other\n" and (mine / "code.ts").read_text() == "2\n"
    assert deliver(run) == ["Nothing to commit to main", "origin/main is up to date"]


def test_changes_in_the_way_keep_the_branch_and_the_results_arrive(clone: Callable[[str], Path], origin: Path) -> None:
    mine, other = clone("mine"), clone("other")
    write_files(mine, {"README.md": "mine\n"})
    write_files(other, {"README.md": "other\n"})
    git(other, "commit", "-qam", "Other")
    git(other, "push", "-q")
    lines = deliver(fabricate(mine))
    assert "your uncommitted changes are in the way" in lines[-1]
    assert (mine / "README.md").read_text() == "mine\n" and git(mine, "status", "--porcelain") == "M README.md"
    assert "run.json" in git(origin, "ls-tree", "-r", "--name-only", "main")


def test_commits_of_the_user_do_not_go_along(clone: Callable[[str], Path], origin: Path) -> None:
    mine = clone("mine")
    write_files(mine, {"code.ts": "not ready\n"})
    git(mine, "commit", "-qam", "Not ready")
    lines = deliver(fabricate(mine))
    assert "commits of its own" in lines[-1]
    assert git(origin, "show", "main:code.ts") == "1"
    git(mine, "pull", "-q", "--rebase")
    assert git(mine, "log", "--format=%s").splitlines()[0] == "Not ready"
    assert git(mine, "rev-list", "--count", "HEAD") == "3"


def test_nor_does_one_on_top_of_results_that_are_there_already(clone: Callable[[str], Path], origin: Path) -> None:
    mine = clone("mine")
    run = fabricate(mine)
    deliver(run)
    write_files(mine, {"code.ts": "not ready\n"})
    git(mine, "commit", "-qam", "Not ready")
    assert deliver(run) == ["Nothing to commit to main", "origin/main is up to date"]
    assert git(origin, "show", "main:code.ts") == "1"


def test_git_and_its_hooks_see_no_key(
    clone: Callable[[str], Path], origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_KEY", "planted-secret")
    monkeypatch.setenv("GH_TOKEN", "for-credential-helpers")
    hook = origin / "hooks" / "pre-receive"
    hook.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\n")
    hook.chmod(0o755)
    assert "Pushed to origin/main" in deliver(fabricate(clone("mine")))
    seen = (tmp_path / "seen").read_text()
    assert "planted-secret" not in seen and "GH_TOKEN=for-credential-helpers" in seen


def test_a_refused_push_is_one_line_and_the_commit_is_kept(clone: Callable[[str], Path], origin: Path) -> None:
    mine = clone("mine")
    hook = origin / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'main is protected: open a pull request' >&2\nexit 1\n")
    hook.chmod(0o755)
    run = fabricate(mine)
    with pytest.raises(UserError, match=r"origin/main: not pushed: .*main is protected") as refused:
        deliver(run)
    assert "\n" not in str(refused.value) and "the commit is kept on main" in str(refused.value)
    assert git(mine, "log", "-1", "--format=%s").startswith("chore(runs): add")
    hook.unlink()
    assert deliver(run) == ["Nothing to commit to main", "Pushed to origin/main"]
    assert git(mine, "rev-parse", "main") == git(origin, "rev-parse", "main")


def test_the_same_files_with_other_contents_are_never_overwritten(clone: Callable[[str], Path], origin: Path) -> None:
    mine, other = clone("mine"), clone("other")
    deliver(fabricate(other))
    run = fabricate(mine)
    (run.eval_folder(EVAL) / "1.md").write_text("# Another reply\n")
    with pytest.raises(UserError, match=r"origin/main has runs/.*/1\.md with other contents"):
        deliver(run)
    assert git(origin, "show", f"main:{(run.eval_folder(EVAL) / '1.md').relative_to(mine)}") == "# Files"


def test_ten_pushes_at_the_same_time(clone: Callable[[str], Path], origin: Path) -> None:
    runs = [fabricate(clone(f"c{i}"), f"default-{i:08}") for i in range(10)]
    with ThreadPoolExecutor(10) as pool:
        done = list(pool.map(deliver, runs))
    assert all("Pushed to origin/main" in lines for lines in done)
    assert git(origin, "rev-list", "--count", "main") == "11"
    assert git(origin, "ls-tree", "-r", "--name-only", "main").count("run.json") == 10


def test_what_git_lacks_is_told_before_anybody_is_asked(
    clone: Callable[[str], Path], tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_eval(tmp_path / "suite")
    options = ["-m", "reference", "--runs-dir"]

    def refused(folder: Path, *more: str) -> str:
        result = invoke("run", *options, folder, *(more or ("--commit",)), cwd=tmp_path / "suite")
        assert result.status == 1 and result.err.count("\n") == 1 and not list(folder.rglob("run.json"))
        return result.err

    assert "not in a Git repository" in refused(tmp_path / "plain" / "runs")
    mine = clone("mine")
    git(mine, "checkout", "-q", "--detach")
    assert "no branch is checked out (detached HEAD)" in refused(mine / "runs")
    git(mine, "checkout", "-q", "main")
    git(mine, "remote", "remove", "origin")
    assert "no remote to push to; `git remote add origin URL`" in refused(mine / "runs", "--push")
    for name in ("user.name", "user.email"):
        git(mine, "config", "--unset", name)
    git(mine, "config", "user.useConfigOnly", "true")
    assert "Git has no author to commit as" in refused(mine / "runs")


def test_a_repository_of_its_own_for_results(clone: Callable[[str], Path], tmp_path: Path) -> None:
    make_git_repo(write_files(tmp_path / "suite", {"a": "b"}))
    results = clone("results")
    deliver(fabricate(results))
    with pytest.raises(UserError, match=r"not in the repository .*/results; commit it there"):
        Delivery(open_branch(results, push=False), False).deliver([fabricate(tmp_path / "suite")])


def test_a_first_commit_and_a_first_push(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "test@example.org")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "there.git")
    git(tmp_path, "init", "-q", "-b", "main", "here")
    git(tmp_path / "here", "remote", "add", "there", str(tmp_path / "there.git"))
    assert deliver(fabricate(tmp_path / "here"))[1] == "Pushed to there/main"
    assert git(tmp_path / "here", "status", "--porcelain") == ""
