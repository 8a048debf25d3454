"""What we ask of Git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.config import is_secret
from convex_evals.errors import UserError

if TYPE_CHECKING:
    import git

# GitPython asks git for its version when it is imported; without git on PATH the import itself would fail.
os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")


def clean_commit(folder: Path) -> str | None:
    """The newest commit that changed `folder`; None outside of Git, without git, or where inputs are not committed.

    Commits of results are none of it: processes that start before and after one name the same.
    """
    import git

    results = [f":(exclude,top){name}" for name in ("runs", ".cache", "reports")]
    try:
        repository = open_repository(folder)
        # Looking must not write: git would refresh its index.
        with repository.git.custom_environment(GIT_OPTIONAL_LOCKS="0"):
            changed = repository.git.status("--porcelain", "--untracked-files=normal", "--", str(folder), *results)
        if changed:
            return None
        return repository.git.log("-1", "--format=%H", "HEAD", "--", str(folder), *results) or None
    except (git.GitError, ValueError, OSError):
        return None


def open_repository(folder: Path) -> git.Repo:
    """The repository that `folder` is in; its git sees no keys. Raises what GitPython does."""
    import git

    repository = git.Repo(folder, search_parent_directories=True)
    repository.git.update_environment(**no_secrets())
    return repository


def no_secrets() -> dict[str, str]:
    """Keys of providers blanked: git has no use for them, and its environment is in the process listing."""
    return {name: "" for name in os.environ if is_secret(name)}


@dataclass(frozen=True)
class Checkout:
    """A folder in a repository, to be looked at: nothing is checked out or written."""

    folder: Path
    root: Path  # the top of its working tree

    def run(self, *command: str) -> str:
        """What git prints. Raises `GitFailed`."""
        return self._run(command).decode("utf-8", "replace").rstrip("\n")

    def _run(self, command: Sequence[str]) -> bytes:
        return _git(self.folder, command)

    def commit(self, revision: str) -> str | None:
        """The commit that `revision` means, in any spelling that git has; None where it means none."""
        if revision.startswith("-") or not revision:
            return None
        try:
            found = self.run("rev-parse", "--verify", "-q", revision)
            return self.run("rev-parse", "--verify", "-q", f"{found}^{{commit}}")
        except GitFailed:
            return None

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit that both come from; None where there is none, or a shallow clone does not have it."""
        try:
            return self.run("merge-base", one, other)
        except GitFailed:
            return None

    @cached_property
    def is_shallow(self) -> bool:
        return self.run("rev-parse", "--is-shallow-repository") == "true"

    def names(self) -> list[str]:
        """Branches and tags, those of remotes as `origin/main`."""
        return self.run("for-each-ref", "--format=%(refname:short)").splitlines()

    def inside(self, path: str) -> str | None:
        """`path`, which is relative to the folder, relative to the root; None where it is elsewhere."""
        found = Path(os.path.normpath(self.folder.resolve() / path))
        return found.relative_to(self.root).as_posix() if found.is_relative_to(self.root) else None

    def relative(self, inside: str) -> str:
        """The other way round."""
        return Path(os.path.relpath(self.root / inside, self.folder.resolve())).as_posix()

    def text(self, commit: str, path: str) -> str | None:
        """The text of `path` in a commit, with LF line ends; None where it is not there. Raises `UserError`."""
        inside = self.inside(path)
        try:
            data = self._run(["cat-file", "blob", f"{commit}:{inside}"]) if inside else None
        except GitFailed:
            return None
        try:
            return None if data is None else data.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise UserError(f"{path}@{commit[:12]}: not UTF-8 text (byte {error.start})") from None

    def earlier_path(self, path: str, commit: str, until: str | None) -> str | None:
        """What the file that is `path` in `until` (None: here and now) was called in `commit`, by git's detection."""
        inside = self.inside(path)
        compared = ["diff", "--diff-filter=R", "--name-status", "-M", "-z", commit, *([until] if until else [])]
        follow = ["log", "--follow", "--diff-filter=R", "--name-status", "-M", "-z", "--format="]
        try:
            # From one end to the other, else step by step: after many edits the ends may have little in common.
            for command in (compared, [*follow, f"{commit}..{until or 'HEAD'}", "--", str(self.root / str(inside))]):
                parts = self.run(*command).strip("\0\n").split("\0")
                steps = {new: old for old, new in zip(parts[1::3], parts[2::3], strict=False)}
                if inside in steps:
                    while inside in steps:
                        inside = steps.pop(inside)
                    return self.relative(inside)
        except GitFailed:
            pass
        return None


class GitFailed(Exception):
    """A git command failed; the message is what it said."""


def _git(folder: Path, command: Sequence[str]) -> bytes:
    # Without GitPython, whose import takes longer than what is asked.
    environment = {**os.environ, **no_secrets(), "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(["git", *command], cwd=folder, env=environment, capture_output=True, check=False)
    except (OSError, ValueError) as error:
        raise GitFailed(str(error)) from None
    if done.returncode:
        raise GitFailed(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout


def open_checkout(folder: Path, purpose: str) -> Checkout:
    """The repository that `folder` stands in. Raises `UserError`, with what it was needed for."""
    try:
        root = _git(folder, ["rev-parse", "--show-toplevel"]).decode("utf-8", "replace").rstrip("\n")
    except GitFailed as error:
        if "not a git repository" in str(error):
            raise UserError(f"{folder}: not in a Git repository, so {purpose}") from None
        raise UserError(f"{folder}: {str(error).partition(chr(10))[0]}; so {purpose}") from None
    return Checkout(folder, Path(root).resolve())


def text_at(folder: Path, revision: str, path: str) -> str:
    """The text of `path` (relative to `folder`) as it was committed in `revision`. Raises `UserError`."""
    checkout = open_checkout(folder, f"there is no '{path}@{revision}'")
    commit = checkout.commit(revision)
    if commit is None:
        raise UserError(f"{path}@{revision}: no such revision; `git log --oneline -- {path}` lists some")
    text = checkout.text(commit, path)
    if text is None:
        raise UserError(f"{path}@{revision}: the file is not in that revision")
    return text


def changed_since(folder: Path, revision: str) -> frozenset[str]:
    """Files below `folder`, relative to it, that are not what they were in `revision`; new ones too.

    Raises `UserError`.
    """
    import git

    try:
        repository = open_repository(folder)
        commit = repository.commit(revision).hexsha
        command = git.Git(str(folder))
        command.update_environment(**no_secrets())
        listed = command.diff("--name-only", "--relative", "--no-renames", "-z", commit, "--", ".")
        new = command.ls_files("--others", "--exclude-standard", "-z", "--", ".")
    except git.InvalidGitRepositoryError:
        raise UserError(f"{folder}: not in a Git repository, so nothing is known of '{revision}'") from None
    except (git.GitError, git.BadName, ValueError, IndexError):
        raise UserError(f"--since {revision}: no such revision; `git log --oneline` lists some") from None
    return frozenset(path for path in f"{listed}\0{new}".split("\0") if path)
