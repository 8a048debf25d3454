"""What we ask of Git."""

from __future__ import annotations

from pathlib import Path


def clean_commit(folder: Path) -> str | None:
    """The commit that `folder`'s repository stands at; None outside of Git, or with uncommitted evals."""
    import git

    try:
        repository = git.Repo(folder, search_parent_directories=True)
        changed = repository.git.status("--porcelain", "--untracked-files=normal", "--", str(folder / "evals"))
        return None if changed else repository.head.commit.hexsha
    except (git.InvalidGitRepositoryError, git.NoSuchPathError, git.GitCommandError, ValueError):
        return None
