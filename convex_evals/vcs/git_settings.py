"""Files that a repository's own settings have git read: those outside of its working tree are the host's."""

from __future__ import annotations

import os
import re
from pathlib import Path

from convex_evals.vcs.git_command import GitFailed, read_git_alone
from convex_evals.vcs.git_folder import GitFolders, read_plain

_INCLUDE = re.compile(r"include(if\..*)?\.path", re.DOTALL)
# `~`, `%(prefix)` and whatever else has a meaning of its own at the beginning is left out.
_PLAIN = re.compile(r"[\w./-]")
_LONGEST = 1024 * 1024  # bytes of a file of settings
_DEEPEST = 10  # files that include each other, as in git
_MOST_FILES = 50  # each as often as it is included


def refuse_outside_settings(folders: GitFolders) -> None:
    """Raise `GitFailed` where the repository includes settings from outside of its working tree.

    Asked before git is started in it, which reads them first of all, and quotes them in its errors.
    """
    waiting = [(folders.shared / "config", 0), (folders.own / "config.worktree", 0)]
    count = 0
    while waiting:
        file, depth = waiting.pop()
        count += 1
        if depth > _DEEPEST or count > _MOST_FILES:
            raise GitFailed(
                f"{file}: settings may include each other {_DEEPEST} deep, and {_MOST_FILES} times in all; "
                "write some in their place"
            )
        waiting += [(path, depth + 1) for path in _included(file, folders.top)]


def _included(file: Path, top: Path) -> list[Path]:
    return [_inside(file, value, top) for key, value in settings_in(file) if _INCLUDE.fullmatch(key)]


def _inside(file: Path, named: str, top: Path) -> Path:
    path = Path(os.path.normpath(file.parent / named))
    if not _PLAIN.match(named) or not path.is_relative_to(top) or (file.parent / named).resolve() != path:
        raise GitFailed(
            f"{file}: includes {named!r}, outside of the working tree or through a link; put it into ~/.gitconfig"
        )
    return path


def settings_in(file: Path) -> list[tuple[str, str]]:
    """What one file of settings sets, as git reads it: keys, and '' where one has no value. Raises `GitFailed`."""
    if read_plain(file, file.parent, _LONGEST) is None:
        return []
    listed = os.fsdecode(read_git_alone("config", "--file", str(file), "--no-includes", "-z", "--list"))
    pairs = (entry.partition("\n") for entry in listed.split("\0") if entry)
    return [(key, value) for key, _, value in pairs]
