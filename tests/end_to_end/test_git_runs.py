"""Runs and Git: shards in clones of their own, commits of exactly a run's files, pushes among others."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convex_evals.errors import UserError
from convex_evals.runs.delivery import Delivery
from convex_evals.runs.shard import Shard, parse_shard
from convex_evals.store.runs import Run, RunStore
from convex_evals.vcs.commits import open_branch
from tests import commands
from tests.commands import Command
from tests.conftest import Invoke, clean_environment
from tests.factories import (
    make_eval,
    make_generation_file,
    make_git_repo,
    make_grade_file,
    make_plan,
    make_run,
    write_files,
)
from tests.provider import Provider, models_yaml, serve

pytestmark = pytest.mark.full

EVAL = "000-fundamentals/000-answer"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


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


def fabricate(folder: Path, run_id: str = "default-00000001") -> Run:
    run = RunStore(folder / "runs").create(make_plan(run_id=run_id))
    run.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    return run


def deliver(run: Run, *, push: bool = True) -> list[str]:
    return Delivery(open_branch(run.folder, push=push), push).deliver([run])


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 30)), max_size=60), st.integers(1, 9))
def test_shards_split_evals_evenly(evals: set[tuple[int, int]], of: int) -> None:
    ids = [f"{c:03}-c/{n:03}-n" for c, n in evals]
    shares = [Shard(i, of).share(ids) for i in range(1, of + 1)]
    assert sorted(e for share in shares for e in share) == sorted(ids)
    for within in ["", *(f"{c:03}-" for c in range(6))]:
        sizes = [sum(e.startswith(within) for e in share) for share in shares]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(UserError, match=r"write I/N with 1 <= I <= N"):
        parse_shard(text)


def test_a_run_that_scored_nothing_is_left_out(clone: Callable[[str], Path]) -> None:
    mine = clone("mine")
    scored, stuck = (make_run(mine / "runs", {EVAL: row}, run_id=f"default-{row}") for row in ("pu", "uu"))
    delivery = Delivery(open_branch(mine, push=False), False)
    lines = delivery.deliver([scored, stuck])
    assert lines[0] == "Not committed, since no trial was scored: default-uu" and lines[1].startswith(
        "Committed to main"
    )
    assert "default-uu" not in git(mine, "ls-files")
    with pytest.raises(UserError, match="nothing was committed: no trial was scored"):
        delivery.deliver([stuck])
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


def test_finish_says_what_is_missing(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    evals = make_plan().evals
    planned = make_plan(evals={**evals, "001-more/000-later": evals[EVAL]})
    run = RunStore(tmp_path / "runs").create(planned)
    nothing = invoke("finish", "last")
    assert nothing.status == 1 and "has no results yet" in nothing.err and nothing.err.count("\n") == 1
    run.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
    RunStore(tmp_path / "runs").create(make_plan(run_id="empty", date="2026-01-01"))
    result = invoke("finish", "empty", "default", "default")
    assert result.status == 1 and "/empty: has no results yet" in result.err and result.err.count("\n") == 1
    assert result.out.count("Missing:") == 1
    assert invoke("finish", "default").out == result.out
    assert "Missing: 1 of 2 evals: 001-more/000-later\nComplete it: cli run --run default-00000000" in result.out
    summary = run.summary()
    assert summary and summary.missing == ("001-more/000-later",) and not run.is_complete
    (data,) = json.loads(invoke("finish", "last", "--json").out)
    assert data["complete"] is False and data["summary"]["counts"]["passed"] == 1


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["run", "-m", "reference", "--shard", "1/2"], 2, "--shard needs --run RUN, or --run-id and --date"),
        (["run", "--run", "default", "--trials", "2"], 2, "--run takes these from the plan; leave out --trials"),
        (["run", "--run", "default", "--shard", "3/2"], 1, "--shard 3/2: not a shard"),
        (["run", "--run", "nope"], 1, "nope: no such run in"),
        (["run", "--run", "default", "-m", "gpt5"], 1, "gpt5: no such model"),
        (["run", "-m", "reference", "--run-id", "A b"], 2, "--run-id A b: use lower-case letters"),
        (["plan", "-m", "reference", "--date", "2026-01-01"], 2, "--date needs --run-id"),
    ],
)
def test_wrong_words(arguments: list[str], status: int, message: str, invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    RunStore(tmp_path / "runs").create(make_plan())
    result = invoke(*arguments)
    assert result.status == status and message in result.err, result.err


def test_one_run_by_two_names_is_one(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "x")
    make_eval(tmp_path)
    write_files(tmp_path, {"models.yaml": models_yaml("http://127.0.0.1:1")})
    words = ["-e", "no_guidelines", "--dry-run", "--json"]
    assert len(json.loads(invoke("run", "-m", "model", "-m", "stub/model", *words).out)) == 1
    two = invoke("plan", "-m", "reference", "-m", "model", "-e", "no_guidelines", "--run-id", "x")
    assert two.status == 1 and "--run-id x: names one run" in two.err
    RunStore(tmp_path / "runs").create(make_plan())
    by_two_names = invoke("run", "--run", "last", "--run", "default-00000000", "--dry-run", "--json")
    assert len(json.loads(by_two_names.out)) == 1, by_two_names.err


# -- real processes --


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply="There is nothing to write.\n")) as provider:
        yield provider


@pytest.fixture
def suite(tmp_path: Path, stub: Provider) -> Path:
    """A bare repository with twelve evals in three categories."""
    seed = tmp_path / "seed"
    for i in range(12):
        make_eval(seed, f"00{i % 3}-category/{i:03}-eval", {"TASK.txt": f"Task {i}.\n"})
    files = {
        "models.yaml": models_yaml(stub.url),
        "guidelines/convex.md": "Always answer.\n",
        ".gitignore": ".cache/\n",
        ".gitattributes": "runs/** -text\n",
    }
    make_git_repo(write_files(seed, files))
    git(tmp_path, "clone", "-q", "--bare", str(seed), "origin.git")
    return tmp_path / "origin.git"


def start(cwd: Path, *arguments: str) -> Command:
    who = {f"GIT_{w}_{k}": v for w in ("AUTHOR", "COMMITTER") for k, v in (("NAME", "T"), ("EMAIL", "t@example.org"))}
    return commands.start(cwd, *arguments, env=clean_environment(STUB_KEY="sk-stub-000000000000", **who))


def cli(cwd: Path, *arguments: str) -> Any:
    process = start(cwd, *arguments, "--json")
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return json.loads(out)


def facts(summary: dict[str, Any]) -> dict[str, Any]:
    """Without what a clock measured."""
    measured = ("generation_ms", "grading_ms")
    parts = {
        key: {name: {k: v for k, v in part.items() if k not in measured} for name, part in summary[key].items()}
        for key in ("evals", "categories")
    }
    return {k: v for k, v in summary.items() if k not in (*measured, "run_id")} | parts


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_what_is_committed_without_a_verdict_is_tried_again_by_the_next_run(suite: Path, stub: Provider) -> None:
    git(suite.parent, "clone", "-q", str(suite), "here")
    here = suite.parent / "here"
    stub.behave = lambda n, body: "context" if "Task 3." in body["messages"][-1]["content"] else "ok"
    words = ["run", "-m", "model", "-f", "00[03]-eval", "-w", "1", "--commit"]
    (first,) = cli(here, *words)
    assert first["summary"]["unscored"] == {"context_overflow": 1}
    git(here, "clean", "-qfdx")
    stub.requests.clear()
    stub.behave = lambda n, body: "ok"
    (second,) = cli(here, *words)
    assert [body["messages"][-1]["content"] for body in stub.requests] == ["Task 3."]
    assert second["run_id"] != first["run_id"] and second["summary"]["reused"] == 1
    assert second["summary"]["counts"] == {"passed": 0, "failed": 2, "unscored": 0}
    # Commits of results are none of the suite's.
    plans = [json.loads(p.read_text()) for p in here.glob("runs/**/run.json")]
    assert [p["suite_commit"] for p in plans] == [git(here, "rev-parse", "HEAD~2")] * 2


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_shards_in_clones_of_their_own(suite: Path, stub: Provider, soak: bool) -> None:
    """Eight of them with --soak, otherwise three."""
    tmp_path = suite.parent
    count = 8 if soak else 3
    for name in ("planner", "fresh", "single", *(f"shard{i}" for i in range(1, count + 1))):
        git(tmp_path, "clone", "-q", str(suite), name)
    words = ["-m", "model", "--trials", "2", "--date", "2026-01-31"]
    (alone,) = cli(tmp_path / "single", "run", *words, "--run-id", "alone", "-w", "1")
    asked = len(stub.requests)
    (planned,) = cli(tmp_path / "planner", "plan", *words, "--run-id", "nightly", "--commit", "--push")
    assert planned["evals"] == 12 and len(stub.requests) == asked == 24

    # Half of them have what was planned, half make it from the same words.
    shards = []
    for i in range(1, count + 1):
        folder = tmp_path / f"shard{i}"
        which = [*words, "--run-id", "nightly"]
        if i % 2:
            git(folder, "pull", "-q")
            which = ["--run", "nightly"]
        shards.append(
            start(folder, "run", *which, "--shard", f"{i}/{count}", "-w", "1", "--budget", "8", "--commit", "--push")
        )
    for process in shards:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, out + err
        assert "Pushed to origin/main" in out
    assert len(stub.requests) == 2 * asked, "no trial was asked twice, none left out"

    assert git(suite, "rev-list", "--count", "main") == str(count + 2)
    fresh = tmp_path / "fresh"
    git(fresh, "pull", "-q")
    assert git(fresh, "ls-files", "runs").count("generation.json") == 12
    assert not list(fresh.glob("runs/**/summary.json"))
    (finished,) = cli(fresh, "finish", "nightly", "--commit", "--push")
    assert finished["complete"] and facts(finished["summary"]) == facts(alone["summary"])
    assert git(fresh, "status", "--porcelain") == ""
    assert "runs/stub/model/2026-01-31/nightly/summary.json" in git(suite, "ls-tree", "-r", "--name-only", "main")
    # Whoever comes later has nothing left to do.
    (again,) = cli(fresh, "run", "--run", "nightly")
    assert again["complete"] and len(stub.requests) == 2 * asked
