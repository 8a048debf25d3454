"""`.git` of a suite may lead to a repository of the host: its commits are not the suite's, and are not read."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.vcs.git import clean_commit, text_at, working_tree
from tests.conftest import Invoke
from tests.factories import make_eval, make_git_repo, write_files

SECRET = "what only the host's repository says"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def by_file(suite: Path, private: Path) -> None:
    shutil.rmtree(suite / ".git")
    (suite / ".git").write_text(f"gitdir: {private}\n")


def by_link(suite: Path, private: Path) -> None:
    shutil.rmtree(suite / ".git")
    (suite / ".git").symlink_to(private)


def by_common_folder(suite: Path, private: Path) -> None:
    (suite / ".git" / "commondir").write_text(f"{private}\n")


def by_file_and_common_folder(suite: Path, private: Path) -> None:
    (suite / ".git").rename(suite / "inside")
    (suite / ".git").write_text("gitdir: inside\n")
    (suite / "inside" / "gitdir").write_text(f"{suite}/.git\n")
    by_common = suite / "inside" / "commondir"
    by_common.write_text(f"{private}\n")


def by_worktree_of_its_own(suite: Path, private: Path) -> None:
    """As `git worktree add` would have made it in the private repository, but in the suite."""
    folder = write_files(suite / "worktrees" / "x", {"HEAD": "ref: refs/heads/main\n", "gitdir": f"{suite}/.git\n"})
    (folder / "commondir").write_text(f"{private}\n")
    shutil.rmtree(suite / ".git")
    (suite / ".git").write_text("gitdir: worktrees/x\n")


def _alternates(suite: Path, private: Path) -> None:
    write_files(suite / ".git" / "objects" / "info", {"alternates": f"{private}/objects\n"})


def by_linked_branches(suite: Path, private: Path) -> None:
    _alternates(suite, private)
    shutil.rmtree(suite / ".git" / "refs")
    (suite / ".git" / "refs").symlink_to(private / "refs")


def by_a_linked_branch(suite: Path, private: Path) -> None:
    _alternates(suite, private)
    branch = suite / ".git" / "refs" / "heads" / "main"
    branch.unlink()
    branch.symlink_to(private / "refs" / "heads" / "main")


def by_linked_objects(suite: Path, private: Path) -> None:
    shutil.rmtree(suite / ".git" / "objects")
    (suite / ".git" / "objects").symlink_to(private / "objects")
    (suite / ".git" / "refs" / "heads" / "main").write_text((private / "refs" / "heads" / "main").read_text())


def by_a_hook(suite: Path, private: Path) -> None:
    """`hooks/x` is a name of a commit, too."""
    _alternates(suite, private)
    hook = suite / ".git" / "hooks" / "x"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(private / "refs" / "heads" / "main")
    (suite / ".git" / "HEAD").write_text("ref: refs/heads/main\n")


WAYS: list[Callable[[Path, Path], None]] = [
    by_file,
    by_link,
    by_common_folder,
    by_file_and_common_folder,
    by_worktree_of_its_own,
    by_linked_branches,
    by_a_linked_branch,
    by_linked_objects,
    by_a_hook,
]


@pytest.mark.parametrize("way", WAYS)
def test_no_commit_of_the_host_is_read(way: Callable[[Path, Path], None], tmp_path: Path, invoke: Invoke) -> None:
    private = make_git_repo(write_files(tmp_path / "private", {"notes.md": f"- {SECRET}\n"})) / ".git"
    suite = tmp_path / "suite"
    make_eval(suite)
    revision = "hooks/x" if way is by_a_hook else "HEAD"
    write_files(suite, {"convex-evals.yaml": f"experiments: {{default: {{guidelines: notes.md@{revision}}}}}\n"})
    make_git_repo(suite)
    way(suite, private)
    with pytest.raises(UserError) as refusal:
        text_at(suite, revision, "notes.md")
    assert SECRET not in str(refusal.value)
    assert clean_commit(suite) is None
    mine = write_files(tmp_path / "mine", {"models.yaml": "models: [{slug: openai/gpt-4o}]\n"})
    result = invoke("-C", str(suite), "run", "-m", "openai/gpt-4o", "--dry-run", cwd=mine)
    assert result.status == 1 and result.err.count("\n") == 1


def test_honest_repositories_are_read(tmp_path: Path) -> None:
    """Linked working trees, submodules, clones that share objects, linked hooks."""
    main = make_git_repo(write_files(tmp_path / "main", {"notes.md": "- A rule.\n"}))
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    git(tmp_path, "clone", "-q", "--shared", "main", "shared")
    outer = make_git_repo(write_files(tmp_path / "outer", {"x": "x"}))
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(main), "inner")
    hooks = main / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").symlink_to(main / "notes.md")
    for folder in (main, tmp_path / "linked", tmp_path / "shared", outer / "inner"):
        assert text_at(folder, "HEAD", "notes.md") == "- A rule.\n"
        assert working_tree(folder) == folder


def test_a_few_digits_find_no_borrowed_commit(tmp_path: Path) -> None:
    """With its objects at hand, a private commit would be read by the first digits of its name."""
    private = make_git_repo(write_files(tmp_path / "private", {"notes.md": f"- {SECRET}\n"})) / ".git"
    head = (private / "refs" / "heads" / "main").read_text().strip()
    suite = make_git_repo(write_files(tmp_path / "suite", {"notes.md": "- A rule.\n"}))
    _alternates(suite, private)
    git(suite, "config", "core.disambiguate", "commit")
    for revision in (head[:4], head[:12], head, f"v1-1-g{head[:7]}", f"{head[:7]}~0"):
        with pytest.raises(UserError, match="no such revision"):
            text_at(suite, revision, "notes.md")
    assert text_at(suite, "HEAD", "notes.md") == "- A rule.\n"
    assert text_at(suite, "main~0", "notes.md") == "- A rule.\n"


class Opened:
    """Whether anybody opens a pipe to read from it, which would be waited for otherwise."""

    def __init__(self, pipe: Path) -> None:
        os.mkfifo(pipe)
        self.pipe, self.seen, self.ends = pipe, False, False
        self.thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not (self.seen or self.ends):
            try:
                os.close(os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK))
                self.seen = True
            except OSError:
                time.sleep(0.005)

    def __enter__(self) -> Opened:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ends = True
        self.thread.join()


@pytest.mark.parametrize(
    "settings",
    [
        "[core]\n\texcludesFile = {}\n",
        "[include]\n\tpath = {}\n",
        "[INCLUDE] path={}\n",
        '[includeIf "gitdir:/]**"] path = "{}"\n',
        '[includeIf "onbranch:**"]\n\tpath = {}\n',
        "[include]\n\tpath = ../more\n",
    ],
)
def test_settings_of_a_suite_open_no_file_outside(settings: str, tmp_path: Path) -> None:
    suite = make_git_repo(write_files(tmp_path / "suite", {"notes.md": "- A rule.\n"}))
    pipe = tmp_path / "pipe"
    (suite / "more").write_text(f"[include]\n\tpath = {pipe}\n")
    with (suite / ".git" / "config").open("a") as config:
        config.write(settings.format(pipe))
    with Opened(pipe) as opened:
        clean_commit(suite)
        with contextlib.suppress(UserError):
            text_at(suite, "HEAD", "notes.md")
    assert not opened.seen


def test_settings_beside_a_suite_are_its_own(tmp_path: Path) -> None:
    suite = make_git_repo(write_files(tmp_path / "suite", {"notes.md": "- A rule.\n", ".gitconfig": "[x]\n\ty = z\n"}))
    git(suite, "config", "include.path", "../.gitconfig")
    assert text_at(suite, "HEAD", "notes.md") == "- A rule.\n"


def test_what_the_user_has_git_ignore_everywhere_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = write_files(tmp_path / "home", {".gitconfig": "[core]\n\texcludesFile = ~/mine\n", "mine": ".DS_Store\n"})
    monkeypatch.setenv("HOME", str(home))
    suite = make_git_repo(write_files(tmp_path / "suite", {"notes.md": "- A rule.\n"}))
    write_files(suite, {".DS_Store": ""})
    assert clean_commit(suite)
    write_files(suite, {"new": ""})
    assert clean_commit(suite) is None
