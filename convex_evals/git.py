"""What we ask of Git."""

from __future__ import annotations

import os
from pathlib import Path

from convex_evals.config import is_secret
from convex_evals.errors import UserError


def clean_commit(folder: Path) -> str | None:
    """The newest commit that changed `folder`; None outside of Git, without git, or where inputs are not committed.

    Commits of results are none of it: processes that start before and after one name the same.
    """
    # Without git on PATH the import itself would fail.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import git

    results = [f":(exclude,top){name}" for name in ("runs", ".cache", "reports")]
    try:
        repository = git.Repo(folder, search_parent_directories=True)
        # Looking must not write: git would refresh its index.
        with repository.git.custom_environment(GIT_OPTIONAL_LOCKS="0", **no_secrets()):
            changed = repository.git.status("--porcelain", "--untracked-files=normal", "--", str(folder), *results)
        if changed:
            return None
        return repository.git.log("-1", "--format=%H", "HEAD", "--", str(folder), *results) or None
    except (git.GitError, ValueError, OSError):
        return None


def no_secrets() -> dict[str, str]:
    """Keys of providers blanked: git has no use for them, and its environment is in the process listing."""
    return {name: "" for name in os.environ if is_secret(name)}


def text_at(folder: Path, revision: str, path: str) -> str:
    """The text of `path` (relative to `folder`) as it was committed in `revision`. Raises `UserError`."""
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import git

    try:
        repository = git.Repo(folder, search_parent_directories=True)
        root = Path(str(repository.working_tree_dir)).resolve()
        inside = (folder.resolve() / path).relative_to(root).as_posix()
        repository.git.update_environment(**no_secrets())
        commit = repository.commit(revision)
    except git.InvalidGitRepositoryError:
        raise UserError(f"{folder}: not in a Git repository, so there is no '{path}@{revision}'") from None
    except (git.GitError, git.BadName, ValueError, IndexError):
        raise UserError(f"{path}@{revision}: no such revision; `git log --oneline -- {path}` lists some") from None
    try:
        data: bytes = (commit.tree / inside).data_stream.read()
    except KeyError:
        raise UserError(f"{path}@{revision}: the file is not in that revision") from None
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path}@{revision}: not UTF-8 text (byte {error.start})") from None


def changed_since(folder: Path, revision: str) -> frozenset[str]:
    """Files below `folder`, relative to it, that are not what they were in `revision`; new ones too.

    Raises `UserError`.
    """
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import git

    try:
        repository = git.Repo(folder, search_parent_directories=True)
        repository.git.update_environment(**no_secrets())
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
