"""Texts that settings, plans and command lines name: guidelines and rubrics, from the suite, from Git, or given."""

from __future__ import annotations

from pathlib import Path

from convex_evals.config import is_hidden, is_inside
from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.vcs.git import text_at


def guidelines_text(where: str, suite: Path, *, given: bool = False) -> str:
    """The guidelines at `where`, `path` or `path@REV`; `given` on the command line or by a file. Raises `UserError`."""
    return named_text(
        where, suite, given=given, instead="name other guidelines with --guidelines PATH, or use -e no_guidelines"
    )


def named_text(where: str, suite: Path, *, given: bool, instead: str) -> str:
    """The text at `where`, `path` or `path@REV`. Raises `UserError`, which says what to do `instead`."""
    path, _, revision = where.rpartition("@")
    if not given:
        refuse_hidden(where)
    if path and revision and not is_there(suite, where) and not (given and Path(where).exists()):
        if not given and not is_inside(path):
            raise UserError(f"{where}: leads out of the suite; name a file in it, or give it on the command line")
        return text_at(suite, revision, path)
    # What is typed is relative to where it is typed; what a file says, to the file.
    file = Path(where).absolute() if given and Path(where).is_file() else suite / where
    if not is_there(suite, file):
        raise UserError(f"{file}: no such file; {instead}")
    if file.is_relative_to(suite) or not given:
        return read_inside(suite, where if not given else file)
    # Elsewhere it is the user who says which file it is, and may well say it by a link.
    file = file.resolve()
    return read_inside(file.parent, file.name)


def refuse_hidden(path: str) -> None:
    """Settings and plans of runs may be a pull request's, and `.env` is the user's."""
    if is_hidden(path):
        raise UserError(
            f"{path}: is hidden, and hidden files may hold keys; name another file, or give it on the command line"
        )
