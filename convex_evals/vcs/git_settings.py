"""Files that a repository's own settings have git read: those outside of its working tree are the host's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from convex_evals.vcs.git_command import GitFailed

_INCLUDE = re.compile(rb"^\s*\[\s*include", re.IGNORECASE | re.MULTILINE)
_PATH = re.compile(rb"^[ \t]*(?:\[[^\]\n]*\][ \t]*)?path[ \t]*=[ \t]*(.*?)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_ANY_PATH = re.compile(rb"\bpath[ \t]*=", re.IGNORECASE)
# Quotes in the middle, escapes, comments, `%(prefix)`: what git makes of these is left to git.
_HARD_TO_READ = re.compile(rb"[\"\\;#%]")
_LONGEST = 1024 * 1024  # bytes of a file of settings
_LONGEST_LINK = 4_096  # bytes of a `.git` file
_DEEPEST = 10  # files that include each other, as in git


def refuse_outside_settings(folder: Path) -> None:
    """Raise `GitFailed` where the repository that git will find from `folder` includes settings from elsewhere.

    Asked before git is started, which reads them first of all.
    """
    for top in (folder.absolute(), *folder.absolute().parents):
        if os.path.lexists(top / ".git"):
            for file in _settings(top / ".git"):
                _refuse_includes(file, top.resolve(), 0)
            return


def _settings(git: Path) -> Iterator[Path]:
    own = git
    if git.is_file():
        named = os.fsdecode(_read(git, _LONGEST_LINK)).removeprefix("gitdir:").strip()
        own = git.parent / named
    common = own / "commondir"
    shared = own / os.fsdecode(_read(common, _LONGEST_LINK)).strip() if common.is_file() else own
    yield from (shared / "config", own / "config.worktree")


def _refuse_includes(file: Path, top: Path, depth: int) -> None:
    text = _read(file, _LONGEST) if file.is_file() else b""
    if not _INCLUDE.search(text):
        return
    values = _PATH.findall(text)
    if len(values) != len(_ANY_PATH.findall(text)) or depth > _DEEPEST:
        raise GitFailed(f"{file}: includes other settings in a way that is not understood; write them in its place")
    for value in values:
        named = value[1:-1] if value[:1] == value[-1:] == b'"' and len(value) > 1 else value
        path = Path(os.path.normpath(file.parent / Path(os.fsdecode(named)).expanduser()))
        if _HARD_TO_READ.search(named) or not path.resolve().is_relative_to(top):
            shown = os.fsdecode(named)
            raise GitFailed(f"{file}: includes {shown!r}, outside of the working tree; put it into ~/.gitconfig")
        _refuse_includes(path, top, depth + 1)


def _read(file: Path, most: int) -> bytes:
    try:
        with file.open("rb") as opened:
            found = opened.read(most + 1)
    except OSError as error:
        raise GitFailed(f"{file}: cannot be read: {error.strerror}") from None
    if len(found) > most:
        raise GitFailed(f"{file}: more than {most:,} bytes; make it shorter")
    return found
