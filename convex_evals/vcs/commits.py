"""Commits of exactly some files, pushed while others push too. What else is dirty or staged stays as it is.

Trees are built in an index of their own, so neither the working tree nor what is staged plays a part.
"""

from __future__ import annotations

import os
import random
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.text import spelled_out
from convex_evals.vcs.git import working_tree
from convex_evals.vcs.git_command import GitFailed, write_git

_TRIES = 40
_LONGEST_PAUSE = 3.0  # seconds
_UNCLEAR_TRIES = 3
_TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")
_LOST_RACE = re.compile(
    r"fetch first|non-fast-forward|stale info|cannot lock ref|failed to (update|lock) ref|incorrect old value"
    r"|reference already exists|Unable to create '[^']*\.lock'"
)
_REFUSED = re.compile(
    r"remote rejected|denied|declined|protected|not permitted|forbidden|error: 40[13]|Authentication failed"
    r"|could not read (Username|Password)|does not appear to be a git repository|[Rr]epository .*not found",
)


@dataclass(frozen=True)
class Files:
    """What a commit adds: paths relative to the top of the repository, by what they hold."""

    blobs: dict[str, str]
    folders: tuple[str, ...]  # all of `blobs` stand below these

    @property
    def index_info(self) -> str:
        return "".join(f"100644 {blob}\t{path}\0" for path, blob in sorted(self.blobs.items()))


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

    root: Path
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
        """Bring the committed files to the remote's branch, on top of whatever is there by then.

        Files that are there with other contents are replaced only where their name is one of `replaceable`.
        Nothing else that is committed here goes along. Raises `UserError`; the local commit stays.
        """
        unclear = 0
        for attempt in range(_TRIES):
            time.sleep(random.uniform(0, min(_LONGEST_PAUSE, 0.1 * 2**attempt)) if attempt else 0)
            try:
                theirs = self._fetch()
                made = self._on_top(theirs, committed, replaceable)
                if made is None:
                    return Pushed(False, self._follow(committed.commit, theirs))
                self._git("push", "-q", self._remote, f"{made}:refs/heads/{self.upstream}")
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
    def _remote(self) -> str:
        assert self.remote is not None, "open_branch was told that nothing is pushed"
        return self.remote

    def _files(self, folders: Sequence[Path]) -> Files:
        roots = [self.inside(folder) for folder in folders]
        paths = sorted(path for folder in roots for path in self._below(self.root / folder))
        # The files are committed as they are: a filter is a command, and which one applies the working tree says.
        lines = "".join(f"{p}\n" for p in paths)
        hashed = self._git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=lines).split()
        return Files(dict(zip(paths, hashed, strict=True)), tuple(roots))

    def _below(self, folder: Path) -> Iterator[str]:
        """Files below `folder`, relative to the top. Raises `UserError` for what git would follow or misread."""
        for directory, names, files in os.walk(folder):
            for name in [*names, *files]:
                path = Path(directory, name)
                if path.is_symlink() or not name.isprintable():
                    shown = spelled_out(str(path)).replace("\n", "\\n")
                    raise UserError(f"{shown}: a link, or an odd name; results are plain files, so remove it")
            paths = [Path(directory, name) for name in files if not name.startswith(".tmp-")]
            yield from (path.relative_to(self.root).as_posix() for path in paths if path.is_file())

    def inside(self, folder: Path) -> str:
        """`folder` relative to the top of the repository. Raises `UserError` where it is elsewhere."""
        try:
            return folder.resolve().relative_to(self.root).as_posix()
        except ValueError:
            raise UserError(f"{folder}: not in the repository {self.root}; commit it there, by --runs-dir") from None

    def _commit(self, files: Files, message: str) -> Committed:
        head = self._revision("HEAD")
        tree = self._tree(head, files)
        if head and tree == self._revision("HEAD^{tree}"):
            return Committed(head, files, message, False)
        commit = self._commit_tree(tree, head, message)
        # What is staged besides stays staged.
        self._git("update-index", "--add", "-z", "--index-info", stdin=files.index_info)
        self._git("update-ref", "-m", "commit: results", f"refs/heads/{self.name}", commit, head or "0" * 40)
        return Committed(commit, files, message, True)

    def _tree(self, base: str | None, files: Files) -> str:
        """The tree of `base` with `files`."""
        with tempfile.TemporaryDirectory(prefix="index-") as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self._git("read-tree", base or "--empty", env=env)
            self._git("update-index", "--add", "-z", "--index-info", stdin=files.index_info, env=env)
            return self._git("write-tree", env=env)

    def _commit_tree(self, tree: str, parent: str | None, message: str) -> str:
        sign = ["-S"] if self._config("commit.gpgsign", "--type=bool") == "true" else []
        return self._git("commit-tree", *sign, *(["-p", parent] if parent else []), tree, stdin=message)

    def _fetch(self) -> str | None:
        """The newest commit of the remote's branch; None where there is no such branch yet."""
        tracking = f"refs/remotes/{self._remote}/{self.upstream}"
        try:
            self._git("fetch", "-q", "--no-tags", self._remote, f"+refs/heads/{self.upstream}:{tracking}")
        except GitFailed as error:
            if "couldn't find remote ref" in str(error):
                return None
            raise
        return self._revision(tracking)

    def _on_top(self, theirs: str | None, committed: Committed, replaceable: frozenset[str]) -> str | None:
        """A commit with the files that has `theirs` as its parent; None where they are all there."""
        if theirs is None or (committed.new and self._revision(f"{committed.commit}^") == theirs):
            return committed.commit
        there = self._blobs(theirs, committed.files.folders)
        other = [p for p, blob in committed.files.blobs.items() if there.get(p, blob) != blob]
        fixed = [p for p in other if p.rpartition("/")[2] not in replaceable]
        if fixed:
            raise UserError(
                f"{self._remote}/{self.upstream} has {fixed[0]} with other contents"
                f"{f' (and {len(fixed) - 1} more)' if len(fixed) > 1 else ''}: another process did the same work; "
                "results are never changed, so remove yours and `git pull`, or give another --run-id"
            )
        tree = self._tree(theirs, committed.files)
        if tree == self._revision(f"{theirs}^{{tree}}"):
            return None
        return self._commit_tree(tree, theirs, committed.message)

    def _blobs(self, commit: str, folders: Sequence[str]) -> dict[str, str]:
        listed = self._git("ls-tree", "-r", "-z", commit, "--", *folders).split("\0")
        return {path: meta.split()[2] for meta, _, path in (line.partition("\t") for line in listed if line)}

    def _follow(self, local: str, pushed: str | None) -> str | None:
        """Move the local branch to what was pushed, where nothing of the user's is lost or in the way by it."""
        if pushed is None or local == pushed:
            return None
        base = self._revision_of("merge-base", local, pushed)
        if base == pushed:
            return None
        own = self._changed(base, local) if base else None
        if own is None or own & self._changed(local, pushed):
            return f"{self.name} has commits of its own; `git pull --rebase` joins them with what was pushed"
        self._git("update-index", "-q", "--refresh", check=False)
        try:
            self._git("read-tree", "-m", "-u", local, pushed)
        except GitFailed:
            return f"{self.name} stays behind: your uncommitted changes are in the way; `git pull --rebase` later"
        self._git("update-ref", "-m", "results pushed", f"refs/heads/{self.name}", pushed, local)
        return None

    def _changed(self, before: str, after: str) -> set[str]:
        listed = self._git("diff-tree", "-r", "-z", "--no-renames", "--name-only", before, after)
        return set(filter(None, listed.split("\0")))

    def _revision(self, name: str) -> str | None:
        return self._revision_of("rev-parse", "--verify", "-q", name)

    def _revision_of(self, *command: str) -> str | None:
        return self._git(*command, check=False) or None

    def _config(self, name: str, *options: str) -> str:
        return self._git("config", *options, "--get", name, check=False)

    def _git(self, *arguments: str, stdin: str = "", env: dict[str, str] | None = None, check: bool = True) -> str:
        return _run(self.root, arguments, stdin, env or {}, check)


def open_branch(folder: Path, *, push: bool) -> Branch:
    """The branch that is checked out where `folder` stands, or will.

    Raises `UserError` for whatever would keep a commit, or with `push` a push, from being made: better before a run
    than after it.
    """
    there = next(p for p in [folder.absolute(), *folder.absolute().parents] if p.is_dir())
    root = _root(folder, there)
    name = _asked(root, "symbolic-ref", "-q", "--short", "HEAD")
    if not name:
        raise UserError(f"{root}: no branch is checked out (detached HEAD); `git switch BRANCH` first")
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        if not _asked(root, "var", who):
            raise UserError(f"{root}: Git does not know who commits; `git config user.name` and `user.email` tell it")
    remote, upstream = _upstream(root, name)
    if push and remote is None:
        raise UserError(f"{root}: no remote to push to; `git remote add origin URL`, or leave out --push")
    return Branch(root, name, remote, upstream)


def _upstream(root: Path, branch: str) -> tuple[str | None, str]:
    """Remote and branch that `branch` follows; where it follows none, `origin` or the only remote, and its own name."""
    remotes = _asked(root, "remote").split()
    configured = _asked(root, "config", "--get", f"branch.{branch}.remote")
    if configured in remotes:
        merge = _asked(root, "config", "--get", f"branch.{branch}.merge").removeprefix("refs/heads/")
        return configured, merge or branch
    if "origin" in remotes:
        return "origin", branch
    return (remotes[0] if len(remotes) == 1 else None), branch


def _root(folder: Path, there: Path) -> Path:
    """The top of the working tree that `there` is in."""
    try:
        return working_tree(there)
    except GitFailed as error:
        if "work tree" in str(error) or "bare repository" in str(error):
            what = "a repository without a working tree; use --runs-dir in a clone of it"
            raise UserError(f"{folder}: {what}") from None
        if "core.worktree" in str(error):
            raise UserError(f"{folder}: {error}") from None
        raise UserError(
            f"{folder}: not in a Git repository, so nothing can be committed; `git init` one, or leave out --commit"
        ) from None


def _asked(root: Path, *arguments: str) -> str:
    return _run(root, arguments, "", {}, False)


def _run(root: Path, arguments: Sequence[str], stdin: str, env: dict[str, str], check: bool) -> str:
    """What git prints; where it fails, `GitFailed`, or nothing without `check`."""
    try:
        return write_git(root, arguments, stdin, {**_tokens(), **env})
    except GitFailed as error:
        if check:
            raise GitFailed(_short(str(error))) from None
        return ""


def _tokens() -> dict[str, str]:
    """Of the keys that git does not see, those that its credential helpers look for."""
    return {name: os.environ[name] for name in _TOKENS if name in os.environ}


def _short(text: str) -> str:
    """What git said, on one line: its complaints alone, and no password of a URL."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(("hint:", "To "))]
    told = [x for x in lines if re.search(r"rejected|denied|fatal:|error:|remote:|ERROR|not found", x)] or lines
    told = [
        re.sub(r"^(remote:\s*)?(fatal|error):\s*", r"\1", x) for x in told if not x.startswith("error: failed to push")
    ]
    return re.sub(r"//[^/@\s]+@", "//", "; ".join(told))[:500] or "git said nothing"
