"""Where the repository of a folder is, found without git, which would read its settings before anything else.

`.git` may be a file or a link that leads anywhere, `commondir` in it too, and so may links below it: with them a suite
from elsewhere could have the commits and settings of a private repository read, as its own. So nothing that decides is
read through a link, and a repository stands in its working tree, or knows that tree (`git_owner`).
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.inputs.confined import read_bytes
from convex_evals.vcs.git_command import GitFailed

_LONGEST_PATH = 4_096
_GITFILE = "gitdir: "
_HEAD = re.compile(rb"ref: refs/[!-~]+|[0-9a-f]{40}|[0-9a-f]{64}")
# Git ends some of these names at characters where we would not.
_UNCLEAR = re.compile(r"\s.*|.*\s|.*[\x00-\x1f\x7f].*", re.DOTALL)


@dataclass(frozen=True)
class GitFolders:
    """No links lead to any of the three."""

    top: Path  # of the working tree
    own: Path  # its `.git` folder, or that of a linked working tree
    shared: Path  # has objects and branches


def find_repository(folder: Path) -> GitFolders:
    """The one that git will find from `folder`, which no link leads to. Raises `GitFailed`."""
    for top in (folder, *folder.parents):
        if os.path.lexists(top / ".git"):
            own = _own(top)
            common = _named(own, "commondir", "")
            shared = own if common is None else (own / common).resolve()
            _refuse_none(top, own, shared)
            return GitFolders(top, own, shared)
    raise GitFailed(f"not a git repository, nor any folder above: {folder}")


def read_plain(file: Path, root: Path, most: int) -> bytes | None:
    """The contents of a file that is not reached through links below `root`; None where there is none.

    Raises `GitFailed`.
    """
    try:
        return read_bytes(file, root, most)
    except UserError as error:
        raise GitFailed(str(error)) from None


def _own(top: Path) -> Path:
    git = top / ".git"
    if git.is_dir() and not git.is_symlink():
        return git
    named = _named(top, ".git", _GITFILE)
    return (top / (named or ".git")).resolve()


def _named(folder: Path, name: str, prefix: str) -> str | None:
    """The path that a file of one line says; None where there is no such file."""
    found = read_plain(folder / name, folder, _LONGEST_PATH)
    if found is None:
        return None
    line = os.fsdecode(found).rstrip("\r\n")
    path = line.removeprefix(prefix)
    if not line.startswith(prefix) or not path or _UNCLEAR.fullmatch(path):
        raise GitFailed(f"{folder / name}: not the plain path of a repository; write one line '{prefix}PATH' into it")
    return path


def _refuse_none(top: Path, own: Path, shared: Path) -> None:
    """Where git would not take it for a repository, it would look further up, at one that was not checked."""
    head = read_plain(own / "HEAD", own, _LONGEST_PATH)
    folders = all(os.access(shared / name, os.X_OK) and (shared / name).is_dir() for name in ("objects", "refs"))
    if head is None or not _HEAD.fullmatch(head.rstrip()) or not folders:
        raise GitFailed(f"{top / '.git'}: not a Git repository, with HEAD, objects and refs; remove it")
