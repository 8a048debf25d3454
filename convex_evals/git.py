"""What we ask of Git."""

from __future__ import annotations

import os
from pathlib import Path


def clean_commit(folder: Path) -> str | None:
    """The commit of `folder`'s repository; None outside of Git, without git, or where inputs are not committed."""
    # Without git on PATH the import itself would fail.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    import git

    results = [f":(exclude,top){name}" for name in ("runs", ".cache", "reports")]
    try:
        repository = git.Repo(folder, search_parent_directories=True)
        # Looking must not write: git would refresh its index.
        with repository.git.custom_environment(GIT_OPTIONAL_LOCKS="0"):
            changed = repository.git.status("--porcelain", "--untracked-files=normal", "--", str(folder), *results)
        return None if changed else repository.head.commit.hexsha
    except (git.GitError, ValueError, OSError):
        return None
