"""Commits of exactly some files, pushed while others push too. What else is dirty or staged stays as it is.

Trees are built in an index of their own, so neither the working tree nor what is staged plays a part.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs.confined import TEMPORARY
from convex_evals.text import and_more, spelled_out
from convex_evals.vcs.git import located
from convex_evals.vcs.git_command import GitFailed
from convex_evals.vcs.plumbing import Files, OwnRepo

_TRIES = 40
_LONGEST_PAUSE = 3.0  # seconds
_UNCLEAR_TRIES = 3
_LOST_RACE = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to (update|lock) ref|incorrect old value"
    r"|reference already exists|Unable to create '[^']*\.lock'"
)
_REFUSED = re.compile(
    r"remote rejected|denied|declined|protected|not permitted|forbidden|error: 40[13]|Authentication failed"
    r"|could not read (Username|Password)|does not appear to be a git repository|[Rr]epository .*not found",
)


@dataclass(frozen=True)
class Committed:
    commit: str  # of the local branch
    files: Files
    message: str
    new: bool  # False: all of it was committed before


@dataclass(frozen=True)
class Pushed:
    new: bool  # False: all of it was there before
    note: str | None  # what the user may want to do about the local branch


@dataclass(frozen=True)
class Branch:
    """The checked-out branch of a repository, and the one at a remote that it is pushed to."""

    repo: OwnRepo
    name: str
    remote: str | None
    upstream: str

    def commit(self, folders: Sequence[Path], message: str) -> Committed:
        """Commit all files below `folders`, and nothing else. Raises `UserError`."""
        try:
            return self._commit(self._files(folders), message)
        except GitFailed as error:
            raise UserError(f"{self.root}: cannot commit: {error}") from None

    def push(self, committed: Committed, replaceable: frozenset[str] = frozenset()) -> Pushed:
        """Bring the committed files to the remote's branch, on top of what is there by then.

        Files that are there with other contents are replaced only where their name is one of `replaceable`.
        Nothing else that is committed here goes along. Raises `UserError`; the local commit stays.
        """
        unclear = 0
        for attempt in range(_TRIES):
            time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.1 * 2**attempt)) if attempt else 0)
            try:
                theirs = self.repo.fetch(self._remote, self.upstream)
                made = self._on_top(theirs, committed, replaceable)
                if made is None:
                    return Pushed(False, self._follow(committed.commit, theirs))
                self.repo.push(made, self._remote, self.upstream)
                return Pushed(True, self._follow(committed.commit, made))
            except GitFailed as error:
                if _LOST_RACE.search(str(error)):
                    continue
                unclear += 1
                if _REFUSED.search(str(error)) or unclear >= _UNCLEAR_TRIES:
                    raise UserError(self._not_pushed(str(error))) from None
        raise UserError(self._not_pushed(f"others pushed first, {_TRIES} times"))

    def _not_pushed(self, why: str) -> str:
        return (
            f"{self._remote}/{self.upstream}: not pushed: {why}; the commit is kept on {self.name}, "
            "and the same command pushes it once that is fixed"
        )

    @property
    def root(self) -> Path:
        return Path(self.repo.working_dir)

    @property
    def _remote(self) -> str:
        assert self.remote is not None, "open_branch was told that nothing is pushed"
        return self.remote

    def _files(self, folders: Sequence[Path]) -> Files:
        roots = [self.inside(folder) for folder in folders]
        paths = sorted(path for folder in roots for path in self._below(self.root / folder))
        return Files(self.repo.stored(paths), tuple(roots))

    def _below(self, folder: Path) -> Iterator[str]:
        """Files below `folder`, relative to the top. Raises `UserError` for what git would follow or misread."""
        for directory, names, files in os.walk(folder):
            for name in [*names, *files]:
                path = Path(directory, name)
                if path.is_symlink() or not name.isprintable():
                    shown = spelled_out(str(path)).replace("\n", "\\n")
                    raise UserError(f"{shown}: a link, or an odd name; results are plain files, so remove it")
            paths = [Path(directory, name) for name in files if not name.startswith(TEMPORARY)]
            yield from (path.relative_to(self.root).as_posix() for path in paths if path.is_file())

    def inside(self, folder: Path) -> str:
        """`folder` relative to the top of the repository. Raises `UserError` where it is elsewhere."""
        try:
            return folder.resolve().relative_to(self.root).as_posix()
        except ValueError:
            raise UserError(f"{folder}: not in the repository {self.root}; commit it there, by --runs-dir") from None

    def _commit(self, files: Files, message: str) -> Committed:
        head = self.repo.newest("HEAD")
        tree = self.repo.with_files(head, files)
        if head and tree == self.repo.named(head).tree.hexsha:
            return Committed(head, files, message, False)
        commit = self.repo.commit_tree(tree, head, message)
        files.stage(self.repo.git)
        self.repo.move_branch(self.name, head, commit, "commit: results")
        return Committed(commit, files, message, True)

    def _on_top(self, theirs: str | None, committed: Committed, replaceable: frozenset[str]) -> str | None:
        """A commit with the files that has `theirs` as its parent; None where they are all there."""
        ours = self.repo.named(committed.commit)
        if theirs is None or (committed.new and theirs in [parent.hexsha for parent in ours.parents]):
            return committed.commit
        there = self.repo.blobs(theirs, committed.files.folders)
        other = [p for p, blob in committed.files.blobs.items() if there.get(p, blob) != blob]
        fixed = [p for p in other if p.rpartition("/")[2] not in replaceable]
        if fixed:
            raise UserError(
                f"{self._remote}/{self.upstream} has {fixed[0]} with other contents"
                f"{and_more(len(fixed) - 1)}: another process did the same work; "
                "results are never changed, so remove yours and `git pull`, or give another --run-id"
            )
        tree = self.repo.with_files(theirs, committed.files)
        if tree == self.repo.named(theirs).tree.hexsha:
            return None
        return self.repo.commit_tree(tree, theirs, committed.message)

    def _follow(self, local: str, pushed: str | None) -> str | None:
        """Move the local branch to what was pushed, where nothing of the user's is lost or in the way by it."""
        if pushed is None or local == pushed:
            return None
        base = self.repo.fork(local, pushed)
        if base == pushed:
            return None
        own = self.repo.changed(base, local) if base else None
        if own is None or own & self.repo.changed(local, pushed):
            return f"{self.name} has commits of its own; `git pull --rebase` joins them with what was pushed"
        try:
            self.repo.switch_files(local, pushed)
        except GitFailed:
            return f"{self.name} stays behind: your uncommitted changes are in the way; `git pull --rebase` later"
        self.repo.move_branch(self.name, local, pushed, "results pushed")
        return None


def open_branch(folder: Path, *, push: bool) -> Branch:
    """The branch that is checked out where `folder` stands, or will.

    Raises `UserError` for what would keep a commit, or with `push` a push, from being made: better before a run
    than after it.
    """
    there = next(p for p in [folder.absolute(), *folder.absolute().parents] if p.is_dir())
    repo = _open(folder, there)
    root = repo.working_dir
    name = repo.ask("symbolic_ref", "-q", "--short", "HEAD")
    if not name:
        raise UserError(f"{root}: no branch is checked out (detached HEAD); `git switch BRANCH` first")
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        if not repo.ask("var", who):
            raise UserError(f"{root}: Git has no author to commit as; set `git config user.name` and `user.email`")
    remote, upstream = _upstream(repo, name)
    if push and remote is None:
        raise UserError(f"{root}: no remote to push to; `git remote add origin URL`, or leave out --push")
    return Branch(repo, name, remote, upstream)


def _upstream(repo: OwnRepo, branch: str) -> tuple[str | None, str]:
    """Remote and branch that `branch` follows; where it follows none, `origin` or the only remote, and its own name."""
    remotes = repo.ask("remote").split()
    configured = repo.ask("config", "--get", f"branch.{branch}.remote")
    if configured in remotes:
        merge = repo.ask("config", "--get", f"branch.{branch}.merge").removeprefix("refs/heads/")
        return configured, merge or branch
    if "origin" in remotes:
        return "origin", branch
    return (remotes[0] if len(remotes) == 1 else None), branch


def _open(folder: Path, there: Path) -> OwnRepo:
    try:
        return OwnRepo(located(there))
    except GitFailed as error:
        if "work tree" in str(error) or "bare repository" in str(error):
            what = "a repository without a working tree; use --runs-dir in a clone of it"
            raise UserError(f"{folder}: {what}") from None
        if "core.worktree" in str(error):
            raise UserError(f"{folder}: {error}") from None
        raise UserError(
            f"{folder}: not in a Git repository, so nothing can be committed; `git init` one, or leave out --commit"
        ) from None
