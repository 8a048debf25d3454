"""Whether a repository is the one of the working tree that it is found by.

A repository stands in its working tree, or knows that tree: what `git worktree add` and submodules make names it, in a
file of the repository.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from convex_evals.vcs.git_command import GitFailed
from convex_evals.vcs.git_folder import GitFolders, read_plain
from convex_evals.vcs.git_settings import settings_in

_MOST_ENTRIES = 1_000_000
_LONGEST_PATH = 4_096


def refuse_borrowed(folders: GitFolders) -> None:
    """Raise `GitFailed` where the repository is another working tree's. Git is not started in it."""
    top, own, shared = folders.top, folders.own, folders.shared
    if own not in (shared, shared / "worktrees" / own.name):
        raise GitFailed(f"{own / 'commondir'}: leads to {shared}; remove it")
    if not shared.is_relative_to(top) and not _names(own, top):
        raise GitFailed(f"{top / '.git'}: leads to {own}, which does not know it; `git clone` makes one that does")
    if link := next(_links(shared), None):
        raise GitFailed(f"{link}: is a link; put what it leads to in its place")


def borrows_objects(shared: Path) -> bool:
    """Whether the repository whose objects are in `shared` takes some from another one (`git clone --shared`)."""
    return (shared / "objects" / "info" / "alternates").exists()


def _names(own: Path, top: Path) -> bool:
    """Whether the repository itself says that `top` is its working tree."""
    back = read_plain(own / "gitdir", own, _LONGEST_PATH)
    if back is not None:
        return (own / os.fsdecode(back).strip()).parent.resolve() == top
    named = [value for key, value in settings_in(own / "config") if key == "core.worktree"]
    return bool(named) and (own / named[-1]).resolve() == top


def _links(folder: Path) -> Iterator[Path]:
    """Links below a `.git` folder. Hooks are not executed, and often linked.

    A name like `hooks/x` is a revision too: with objects of others at hand, links to it are none that we take.
    """
    count = 0
    borrows = borrows_objects(folder)
    for directory, names, files in os.walk(folder):
        if Path(directory) == folder and "hooks" in names and not borrows:
            names.remove("hooks")
        count += len(names) + len(files)
        if count > _MOST_ENTRIES:
            raise GitFailed(f"{folder}: more than {_MOST_ENTRIES:,} files; `git gc` packs them")
        yield from (path for name in (*names, *files) if (path := Path(directory, name)).is_symlink())
