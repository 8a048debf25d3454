"""What we ask of Git about a suite: nothing of it is written, and nothing that its repository names is executed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from convex_evals.errors import UserError
from convex_evals.text import decoded
from convex_evals.vcs.git_command import GitFailed, read_git, read_git_text
from convex_evals.vcs.git_folder import GitFolders, find_repository, read_plain
from convex_evals.vcs.git_owner import borrows_objects, refuse_borrowed
from convex_evals.vcs.git_settings import refuse_outside_settings

if TYPE_CHECKING:
    from git import Commit

    from convex_evals.vcs.objects import Repo

LONGEST_TEXT = 8 * 1024 * 1024  # bytes of a file that is read from a commit
_NAME = re.compile(r"[0-9a-f]{40}")  # of a commit
# What GitPython raises for objects that git would not write.
_FORGED = (AssertionError, LookupError, ValueError, OverflowError)
_LONGEST_HEAD = 4_096  # bytes
_AS_STORED = ("--no-ext-diff", "--no-textconv")
_STATUS = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=all")
_NO_RESULTS = [f":(exclude,top){name}" for name in ("runs", ".cache", "reports", "benchmarks")]  # no input is there


def clean_commit(folder: Path) -> str | None:
    """The newest commit that changed `folder`; None outside of Git, without git, or where inputs are not committed.

    Commits of results are none of it: processes that start before and after one name the same.
    """
    where = ("--", str(folder.absolute()), *_NO_RESULTS)
    try:
        working_tree(folder)
        if read_git(folder, *_STATUS, *where):
            return None
        return read_git_text(folder, "log", "-1", "--format=%H", "HEAD", *where) or None
    except GitFailed:
        return None


def uncommitted(folder: Path) -> list[str]:
    """The files of `folder`, from the top of the repository, whose changes keep `clean_commit` from naming a commit."""
    try:
        working_tree(folder)
        told = read_git_text(folder, *_STATUS, "--", str(folder.absolute()), *_NO_RESULTS)
    except GitFailed:
        return []
    return [entry[3:] for entry in told.split("\0") if entry[2:3] == " "]


def has_commits(folder: Path) -> bool:
    """Whether `folder` is in a repository in which something was committed."""
    try:
        working_tree(folder)
        return bool(read_git_text(folder, "rev-parse", "--verify", "-q", "HEAD"))
    except GitFailed:
        return False


def head_files(folder: Path) -> list[Path]:
    """Files of the repository that `folder` stands in that change with what HEAD means; none outside of one."""
    try:
        found = find_repository(folder)
    except GitFailed:
        return []
    head = read_plain(found.own / "HEAD", found.own, _LONGEST_HEAD) or b""
    branch = head.decode("utf-8", "replace").removeprefix("ref: ").strip()
    named = [found.shared / branch] if branch.startswith("refs/") and ".." not in branch else []
    return [found.own / "HEAD", found.own / "logs/HEAD", found.shared / "packed-refs", *named]


def working_tree(folder: Path) -> Path:
    """The top of the working tree that `folder` is in. Raises `GitFailed`.

    A repository's own settings may place its working tree anywhere: it has to be where the repository is found.
    And what is found may be another repository, whose files would be read in its place.
    """
    return located(folder).top


def located(folder: Path) -> GitFolders:
    """The same, with the repository."""
    folder = folder.resolve()
    found = find_repository(folder)
    refuse_outside_settings(found)
    refuse_borrowed(found)
    top = Path(read_git_text(folder, "rev-parse", "--show-toplevel")).resolve()
    if top != found.top:
        raise GitFailed(f"core.worktree of its repository leads to {top}; unset it")
    own, shared = (
        (folder / read_git_text(folder, "rev-parse", option)).resolve() for option in ("--git-dir", "--git-common-dir")
    )
    if (own, shared) != (found.own, found.shared):
        raise GitFailed(f"{top / '.git'}: git finds another repository, {own}; `git clone` makes one that is clear")
    return found


@dataclass(frozen=True)
class Checkout:
    """A folder in a repository, to be looked at: nothing is checked out or written."""

    folder: Path
    found: GitFolders

    @property
    def root(self) -> Path:
        """The top of its working tree."""
        return self.found.top

    @cached_property
    def repo(self) -> Repo:
        from convex_evals.vcs.objects import Repo

        return Repo(self.found)

    @cached_property
    def _borrows(self) -> bool:
        return borrows_objects(self.found.shared)

    def run(self, *command: str) -> str:
        """What git prints. Raises `GitFailed`."""
        return read_git_text(self.folder, *command)

    def commit(self, revision: str) -> str | None:
        """The commit that `revision` means, in any spelling that git has; None where it means none.

        Where the repository borrows objects, these may be a private one's, found by four digits: there, a branch, a
        tag or HEAD has to lead to the commit.
        """
        if revision.startswith("-") or not revision:
            return None
        try:
            found = self.run("rev-parse", "--verify", "-q", revision)
            commit = self.run("rev-parse", "--verify", "-q", f"{found}^{{commit}}")
            return commit if not self._borrows or self._is_reachable(commit) else None
        except GitFailed:
            return None

    def _is_reachable(self, commit: str) -> bool:
        contains = f"--contains={commit}"
        return bool(self.run("for-each-ref", "--count=1", contains)) or self.repo.fork(commit, "HEAD") == commit

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
        name, inside = commit if _NAME.fullmatch(commit) else self.commit(commit), self.inside(path)
        if name is None or inside is None:
            return None
        try:
            found = self.repo.named(name).tree / inside
            size = found.size if found.type == "blob" else None
            data = found.data_stream.read() if size is not None and size <= LONGEST_TEXT else None
        except (GitFailed, *_FORGED):
            return None
        if size and size > LONGEST_TEXT:
            raise UserError(f"{path}@{commit[:12]}: {size} bytes, more than {LONGEST_TEXT}; make it shorter")
        return None if data is None else decoded(data, f"{path}@{commit[:12]}").replace("\r\n", "\n")

    def files(self, commit: str, folder: str) -> dict[str, bytes]:
        """The files below a folder (as `inside` says it) in a commit, as they are stored, by path relative to it.

        Links and submodules are left out. Raises `GitFailed`.
        """
        listed = self.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", f"{folder}/").split("\0")
        rows = [(meta.split(), path) for meta, _, path in (line.partition("\t") for line in listed if line)]
        blobs = {path: name for (mode, _, name), path in rows if mode.startswith("100")}
        names = "".join(f"{name}\n" for name in blobs.values()).encode()
        out = read_git(self.folder, "cat-file", "--batch", stdin=names) if blobs else b""
        found, at = {}, 0
        for path in blobs:
            end = out.index(b"\n", at)
            size = int(out[at:end].split()[2])
            found[path.removeprefix(f"{folder}/")] = out[end + 1 : end + 1 + size]
            at = end + 1 + size + 1
        return found

    def history(self, path: str, most: int) -> list[Commit]:
        """The newest commits that changed `path`, which is relative to the folder, the newest first."""
        inside = self.inside(path)
        if inside is None:
            return []
        try:
            found = self.repo.iter_commits("HEAD", str(self.root / inside), max_count=most)
            return [commit for commit in found if commit.committed_datetime]  # read here: forged ones fail
        except (GitFailed, *_FORGED):
            return []

    def earlier_path(self, path: str, commit: str, until: str | None) -> str | None:
        """What the file that is `path` in `until` (None: here and now) was called in `commit`, by git's detection."""
        inside = self.inside(path)
        renames = (*_AS_STORED, "--diff-filter=R", "--name-status", "-M", "-z")
        compared = ["diff", *renames, "--ignore-submodules=all", commit, *([until] if until else [])]
        follow = ["log", *renames, "--follow", "--format="]
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


def open_checkout(folder: Path, purpose: str) -> Checkout:
    """The repository that `folder` stands in. Raises `UserError`, with what it was needed for."""
    try:
        return Checkout(folder, located(folder))
    except GitFailed as error:
        if "not a git repository" in str(error):
            raise UserError(f"{folder}: not in a Git repository, so {purpose}") from None
        raise UserError(f"{folder}: {str(error).partition(chr(10))[0]}; so {purpose}") from None


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
    return _changed_since(*_since(folder, revision), revision)


def changed_on_branch(folder: Path, revision: str) -> frozenset[str]:
    """The same, compared with the commit where the checked-out branch left `revision`. Raises `UserError`."""
    checkout, commit = _since(folder, revision)
    base = checkout.repo.fork(commit, "HEAD")
    if base is None:
        deepen = "this clone is shallow; `git fetch --unshallow` fetches all of it" if checkout.is_shallow else None
        raise UserError(
            f"--since {revision}: has no commit in common with what is checked out; {deepen or 'name another revision'}"
        )
    return _changed_since(checkout, base, revision)


def _since(folder: Path, revision: str) -> tuple[Checkout, str]:
    checkout = open_checkout(folder, f"nothing is known of '{revision}'")
    commit = checkout.commit(revision)
    if commit is None:
        raise UserError(f"--since {revision}: no such revision; `git log --oneline` lists some")
    return checkout, commit


def _changed_since(checkout: Checkout, commit: str, revision: str) -> frozenset[str]:
    quiet = (*_AS_STORED, "--ignore-submodules=all")
    try:
        listed = checkout.run("diff", *quiet, "--name-only", "--relative", "--no-renames", "-z", commit, "--", ".")
        new = checkout.run("ls-files", "--others", "--exclude-standard", "-z", "--", ".")
    except GitFailed as error:
        why = str(error).partition("\n")[0]
        raise UserError(f"{checkout.folder}: {why}; so nothing is known of '{revision}'") from None
    return frozenset(path for path in f"{listed}\0{new}".split("\0") if path)
