"""GitPython's model of a repository: commits, trees, blobs and what differs between them.

What it starts is started by `git_command`, so it is bounded and executes nothing that a repository names. Where
GitPython keeps a `git cat-file` open, or reads what git is still printing, there is a command that has ended.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from convex_evals.errors import UserError
from convex_evals.vcs.git_command import GitFailed, read_git
from convex_evals.vcs.git_folder import GitFolders

# At its import GitPython asks a git of its own choice for its version. It finds none, then or later.
os.environ |= {"GIT_PYTHON_GIT_EXECUTABLE": os.devnull, "GIT_PYTHON_REFRESH": "quiet"}
from git import Commit
from git import Git as Git
from git import Repo as Model
from git.db import GitCmdObjectDB

Git.GIT_PYTHON_GIT_EXECUTABLE = os.devnull


class _Ended:
    """A command that has ended, as GitPython knows processes."""

    def __init__(self, out: bytes) -> None:
        self.stdout, self.stderr = io.BytesIO(out), io.BytesIO()

    def wait(self, **_: Any) -> int:
        return 0


class Commands(Git):
    """Every method raises `GitFailed`."""

    def printed(self, words: Sequence[str], stdin: bytes, env: Mapping[str, str]) -> bytes:
        return read_git(Path(str(self.working_dir)), *words, stdin=stdin)

    def execute(  # type: ignore[override]
        self,
        command: Sequence[str],
        istream: BinaryIO | None = None,
        as_process: bool = False,
        env: Mapping[str, str] | None = None,
        **_: Any,
    ) -> Any:
        out = self.printed(command[1:], istream.read() if istream else b"", env or {})
        return _Ended(out) if as_process else out.decode("utf-8", "surrogateescape").removesuffix("\n")

    def get_object_header(self, ref: str | bytes) -> tuple[str, str, int]:
        return self._parse_object_header(self._asked("--batch-check", ref).readline())

    def stream_object_data(self, ref: str | bytes) -> Any:
        out = self._asked("--batch", ref)
        name, kind, size = self._parse_object_header(out.readline())
        return name, kind, size, io.BytesIO(out.read(size))

    def _asked(self, how: str, ref: str | bytes) -> Any:
        return io.BytesIO(self.printed(("cat-file", how), self._prepare_ref(ref), {}))


class Repo(Model):
    """A repository that is looked at, in the folders found beforehand: GitPython would follow variables and settings.

    Raises `UserError` where it names its objects by SHA-256, which GitPython cannot read.
    """

    GitCommandWrapperType: type[Git] = Commands

    def __init__(self, found: GitFolders) -> None:
        self._working_tree_dir = self.working_dir = str(found.top)
        self.git_dir, self._common_dir, self._bare = str(found.own), str(found.shared), False
        self.git = self.GitCommandWrapperType(self.working_dir)
        if self.git.rev_parse("--show-object-format") != "sha1":
            raise UserError(f"{found.top}: a repository with names of SHA-256, and only SHA-1 is supported")
        self.odb = GitCmdObjectDB(str(found.shared / "objects"), self.git)

    def named(self, commit: str) -> Commit:
        """The commit with this name of 40 digits, which is read when something of it is asked for."""
        return Commit(self, bytes.fromhex(commit))

    def fork(self, one: str, other: str) -> str | None:
        """The newest commit that both come from; None where there is none, or a shallow clone does not have it."""
        try:
            return next((found.hexsha for found in self.merge_base(one, other)), None)
        except GitFailed:
            return None
