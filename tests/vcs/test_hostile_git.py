"""Git in repositories of others: nothing of theirs is executed, written or waited for."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import time
import zlib
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.vcs import git_command
from convex_evals.vcs.commits import open_branch
from convex_evals.vcs.git import changed_since, clean_commit, open_checkout
from convex_evals.vcs.git_command import GitFailed, read_git
from tests.conftest import Invoke
from tests.factories import make_eval, make_failure, make_run, write_files
from tests.vcs.planted import EVAL, HOOKS, PLANTED, git

pytestmark = pytest.mark.full


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite with two commits of its guidelines, and one of them moved."""
    folder = tmp_path / "suite"
    make_eval(folder)
    write_files(folder, {"guidelines/convex.md": "- One rule.\n", "guidelines/old.md": "- A rule.\n" * 9})
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Begin")
    write_files(folder, {"guidelines/convex.md": "- Another rule.\n"})
    (folder / "guidelines/old.md").rename(folder / "guidelines/new.md")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "Go on")
    return folder


def program(tmp_path: Path) -> tuple[Path, Path]:
    """A command that leaves a mark, and the mark."""
    mark, path = tmp_path / "ran", tmp_path / "program"
    path.write_text(f'#!/bin/sh\necho "$0 $*" >> {mark}\ncat 2>/dev/null\nexit 0\n')
    path.chmod(0o755)
    return path, mark


def state(folder: Path) -> dict[str, tuple[int, bytes | None]]:
    return {
        str(p.relative_to(folder)): (p.lstat().st_mtime_ns, p.read_bytes() if p.is_file() else None)
        for p in folder.rglob("*")
    }


@pytest.mark.parametrize("name", PLANTED)
def test_looking_executes_and_writes_nothing(name: str, suite: Path, tmp_path: Path, invoke: Invoke) -> None:
    """All that asks Git of a suite: commands, and what they are made of."""
    command, mark = program(tmp_path)
    cwd = write_files(tmp_path / "mine", {"models.yaml": "models: [{slug: acme/m, litellm: openai/gpt-4o}]\n"})
    make_run(cwd / "runs", {EVAL: "f"}, suite_commit=git(suite, "rev-parse", "HEAD~1"))
    PLANTED[name](suite, command)
    if mark.exists():
        mark.unlink()  # planting may have run it
    before = state(suite)
    clean_commit(suite)
    for arguments in (
        ["run", "-m", "acme/m", "--dry-run"],
        ["run", "-m", "acme/m", "--dry-run", "--guidelines", "guidelines/convex.md@HEAD~1"],
        ["diff-guidelines", "HEAD~1"],
        ["diff-guidelines", "HEAD~1", "HEAD"],
        ["report", "last", "--stdout"],
        ["regrade", "last", "--since", "HEAD~1", "--runs-dir", "none"],
    ):
        result = invoke("-C", suite, *arguments, cwd=cwd)
        assert result.status in (0, 1) and "Traceback" not in result.err, result.err
        assert not mark.exists(), (arguments, mark.read_text())
    for ask in (
        lambda: changed_since(suite, "HEAD~1"),
        lambda: open_checkout(suite, "").earlier_path("guidelines/new.md", "HEAD~1", None),
        lambda: open_checkout(suite, "").earlier_path("guidelines/new.md", git(suite, "rev-parse", "HEAD~1"), "HEAD"),
        lambda: open_checkout(suite, "").text("HEAD~1", "guidelines/convex.md"),
        lambda: open_checkout(suite, "").names(),
    ):
        try:
            ask()
        except UserError as error:
            assert "\n" not in str(error)
        except subprocess.CalledProcessError:
            pass  # the test's own git, in what is no repository any more
        assert not mark.exists(), mark.read_text()
    assert state(suite) == before


def test_a_working_tree_elsewhere_is_refused(suite: Path, tmp_path: Path) -> None:
    head = clean_commit(suite)
    assert head
    for elsewhere in ("/", str(tmp_path), "../../.."):
        git(suite, "config", "core.worktree", elsewhere)
        assert clean_commit(suite) is None
        with pytest.raises(UserError, match=r"core\.worktree"):
            open_checkout(suite, "nothing can be compared")
        with pytest.raises(UserError, match=r"core\.worktree"):
            open_branch(suite / "runs", push=False)


def test_variables_that_lead_git_elsewhere_are_left_out(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they are set where a command runs inside of a hook, or by whoever wrote the shell's settings."""
    head = clean_commit(suite)
    command, mark = program(tmp_path)
    other = tmp_path / "other"
    write_files(other, {"x": "y"})
    git(other, "init", "-q")
    for name, value in {
        "GIT_DIR": str(other / ".git"),
        "GIT_WORK_TREE": str(other),
        "GIT_COMMON_DIR": str(other / ".git"),
        "GIT_OBJECT_DIRECTORY": str(other / ".git/objects"),
        "GIT_INDEX_FILE": str(other / "index"),
        "GIT_EXTERNAL_DIFF": str(command),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(command),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={command}'",
        "GIT_SSH_COMMAND": str(command),
        "GIT_EXEC_PATH": str(tmp_path),
    }.items():
        monkeypatch.setenv(name, value)
    assert clean_commit(suite) == head
    assert changed_since(suite, str(head)) == frozenset()
    assert open_checkout(suite, "").text("HEAD", "guidelines/convex.md") == "- Another rule.\n"
    assert not mark.exists()


def test_a_repository_that_never_answers_is_left(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git_command, "READ_SECONDS", 2)
    os.mkfifo(suite / "never")
    git(suite, "config", "include.path", str(suite / "never"))
    start = time.monotonic()
    assert clean_commit(suite) is None
    with pytest.raises(UserError, match="neither a file nor a folder"):
        open_checkout(suite, "nothing can be compared")
    assert time.monotonic() - start < 20


def test_no_subject_of_a_commit_is_taken_for_another_commit(suite: Path, invoke: Invoke) -> None:
    day, failures = "2026-02-01", {EVAL: make_failure({"tests": "no"}, {"answers": "expected 42"})}
    make_run(suite / "runs", {EVAL: "f"}, run_id="default-x", date=day, failures=failures)
    write_files(suite / "evals" / EVAL, {"TASK.txt": "Another.\n"})
    git(suite, "add", "evals")
    git(suite, "commit", "-q", "-m", f"One \x1e two\x1e{'0' * 40}")
    result = invoke("report", "default-x", "--json", cwd=suite)
    assert result.status == 0, result
    assert json.loads(result.out)["actions"][0]["subject"] == (f"One \x1e two\x1e{'0' * 40}")


def test_a_commit_that_unpacks_to_much_is_not_read(suite: Path) -> None:
    tree, who = git(suite, "rev-parse", "HEAD^{tree}"), "T <t@example.org> 1790000000 +0000"
    text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{'A' * 100_000_000}\n".encode()
    commit = b"commit %d\0" % len(text) + text
    name = hashlib.sha1(commit).hexdigest()
    path = suite / ".git" / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(commit, 1))
    with pytest.raises(GitFailed, match="more than 64 MiB"):
        read_git(suite, "log", "-1", "--format=%s", name)


@pytest.mark.parametrize("setting", ["mailmap.file", "diff.orderFile"])
def test_no_file_without_end_is_read(setting: str, suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(suite, "config", setting, "/dev/zero")
    os.mkfifo(suite / ".mailmap")
    monkeypatch.setattr(git_command, "READ_SECONDS", 10)
    read_git(suite, "log", "-1", "--format=%H", "HEAD")
    read_git(suite, "diff", "--name-only", "HEAD")


@pytest.mark.parametrize("size", [9_000_000, 70_000_000])
def test_a_file_of_a_commit_may_not_be_huge(size: int, suite: Path) -> None:
    (suite / "guidelines/convex.md").write_text("x" * size)
    git(suite, "commit", "-qam", "Huge")
    with pytest.raises(UserError, match=rf"{size} bytes, more than 8388608"):
        open_checkout(suite, "").text("HEAD", "guidelines/convex.md")


def test_results_are_committed_without_hooks_and_links(tmp_path: Path) -> None:
    """In a repository of the user's own, whose working tree is a pull request."""
    command, mark = program(tmp_path)
    mine = write_files(tmp_path / "mine", {"a.txt": "x"})
    git(tmp_path, "init", "-q", "--bare", "there.git")
    git(mine, "init", "-q", "-b", "main")
    for name, value in (("user.name", "Test"), ("user.email", "test@example.org"), ("core.hooksPath", ".hooks")):
        git(mine, "config", name, value)
    git(mine, "add", "a.txt")
    git(mine, "commit", "-q", "-m", "Begin")
    git(mine, "remote", "add", "origin", str(tmp_path / "there.git"))
    for hook in HOOKS:
        write_files(mine, {f".hooks/{hook}": command.read_text()})
        (mine / ".hooks" / hook).chmod(0o755)
    mark.unlink(missing_ok=True)
    run = make_run(mine / "runs", {EVAL: "p"})
    branch = open_branch(mine / "runs", push=True)
    committed = branch.commit([run.folder], "chore(runs): add")
    assert branch.push(committed).new and not mark.exists()
    for name, target in (("passwd.md", "/etc/passwd"), ("folder", "/etc")):
        link = run.folder / name
        link.symlink_to(target)
        with pytest.raises(UserError, match="a link, or an odd name"):
            branch.commit([run.folder], "chore(runs): add")
        link.unlink()
    odd = run.folder / "a\n..\n"
    odd.write_text("x")
    with pytest.raises(UserError, match="a link, or an odd name") as error:
        branch.commit([run.folder], "chore(runs): add")
    assert "\n" not in str(error.value)


def test_git_is_started_in_one_place() -> None:
    package = Path(__file__).parents[2] / "convex_evals"
    starters = [p.name for p in package.rglob("*.py") if '"git"' in p.read_text() and "Popen" in p.read_text()]
    assert starters == ["git_command.py"]
    others = [p for p in package.rglob("*.py") if p.name != "git_command.py"]
    assert not [p for p in others if "import git\n" in p.read_text() or '["git"' in p.read_text()]
    importers = [p.name for p in others if re.search(r"^(from|import) git\b", p.read_text(), re.MULTILINE)]
    assert importers == ["objects.py"]


def test_gitpython_starts_nothing(suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at its import, whatever the user's variables for it say, nor when it is asked for objects."""
    command, mark = program(tmp_path)
    (tmp_path / "bin").mkdir()
    command.rename(tmp_path / "bin" / "git")
    environment = {
        **os.environ,
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "GIT_PYTHON_GIT_EXECUTABLE": str(tmp_path / "bin" / "git"),
        "GIT_PYTHON_REFRESH": "raise",
    }
    done = subprocess.run([sys.executable, "-c", "import convex_evals.vcs.objects"], env=environment, check=False)
    assert done.returncode == 0 and not mark.exists()

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("GitPython started a process")

    monkeypatch.setattr("git.cmd.safer_popen", refuse)
    checkout = open_checkout(suite, "")
    head, earlier = git(suite, "rev-parse", "HEAD"), git(suite, "rev-parse", "HEAD~1")
    assert checkout.text("HEAD~1", "guidelines/convex.md") == "- One rule.\n"
    assert [commit.hexsha for commit in checkout.history("guidelines/convex.md", 9)] == [head, earlier]
    assert checkout.repo.fork(head, earlier) == earlier


ENTRY = b"100644 a.md\0" + b"x" * 20
FORGED = {
    "empty": b"",
    "no tree": b"author A <a@b> 1 +0000\n\nx",
    "a date beyond all calendars": b"tree TREE\nauthor A <a@b> 1 +0000\ncommitter A <a@b> %d +0000\n\nx" % 10**30,
    "a zone of letters": b"tree TREE\nauthor A <a@b> 1 zz\ncommitter A <a@b> 1 zz\n\nx",
    "nobody": b"tree TREE\n\nx",
    "an encoding that is none": b"tree TREE\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\nencoding hex\n\n\xff",
    "a short tree": b"tree 12\n\nx",
}


@pytest.mark.parametrize(
    "entry",
    [b"junk", ENTRY[:-3], ENTRY.replace(b"100644", b"9xx"), ENTRY, b"1" * 9_999 + ENTRY],
    ids=["junk", "cut", "odd mode", "of nothing", "long mode"],
)
@pytest.mark.parametrize("name", FORGED)
def test_forged_objects_are_none(name: str, entry: bytes, suite: Path) -> None:
    """What git would not write, but prints."""
    store = ("hash-object", "-w", "--literally", "--stdin", "-t")
    tree = subprocess.run(["git", *store, "tree"], cwd=suite, input=entry, capture_output=True, check=True).stdout
    text = FORGED[name].replace(b"TREE", tree.strip())
    commit = subprocess.run(["git", *store, "commit"], cwd=suite, input=text, capture_output=True, check=True).stdout
    (suite / ".git/HEAD").write_bytes(commit)
    checkout = open_checkout(suite, "")
    assert checkout.text("HEAD", "a.md") is None
    assert checkout.text(commit.decode().strip(), "guidelines/convex.md") is None
    for each in checkout.history("a.md", 9):
        assert each.committed_datetime.date().isoformat() and isinstance(each.summary, str)


def test_names_by_sha256_are_not_known(tmp_path: Path, invoke: Invoke) -> None:
    make_eval(tmp_path)
    write_files(tmp_path, {"guidelines/convex.md": "- One rule.\n"})
    git(tmp_path, "init", "-q", "--object-format=sha256", "-b", "main")
    git(tmp_path, "config", "user.name", "T")
    git(tmp_path, "config", "user.email", "t@example.org")
    git(tmp_path, "add", "-A")
    for message in ("Begin", "Go on"):
        git(tmp_path, "commit", "-q", "--allow-empty", "-m", message)
    result = invoke("diff-guidelines", "HEAD~1", cwd=tmp_path)
    assert result.status == 1 and "only SHA-1 is supported" in result.err and result.err.count("\n") == 1, result
    with pytest.raises(UserError, match="only SHA-1 is supported"):
        open_branch(tmp_path / "runs", push=False)
    assert clean_commit(tmp_path) == git(tmp_path, "rev-parse", "HEAD~1")
