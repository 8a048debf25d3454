"""The files of a session, as its edits leave them one after the other."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from convex_evals.sessions.drafting.steps import EditStep, Move, Remove, Replace, Seen, Unreplayable, Write

_MOST_FILES = 2_000
_MOST_CHARACTERS = 16_000_000


@dataclass
class FileTree:
    """Files by path, as their agent names them. `problems` are edits that could not be replayed, a line each."""

    files: dict[str, str] = field(default_factory=dict)
    written_by: dict[str, int] = field(default_factory=dict)  # number of the last message that changed each
    problems: dict[str, str] = field(default_factory=dict)  # by path: a file that is written again has none

    def apply(self, step: EditStep) -> None:
        edit = step.edit
        path = self._known(edit.path)
        match edit:
            case Seen():
                if path not in self.files:
                    self._put(path, edit.text)
            case Write():
                self._put(path, edit.text, step.message)
                self.problems.pop(path, None)
            case Replace():
                self._replace(path, edit, step.message)
            case Remove():
                self.files.pop(path, None)
                self.problems.pop(path, None)
            case Move():
                if path in self.files:
                    self._put(_normal(edit.target), self.files.pop(path), step.message)
            case Unreplayable():
                self.problems[path] = f"message {step.message}: {path}: {edit.tool} does not say the whole text"
            case _:
                assert_never(edit)

    def snapshot(self) -> Mapping[str, str]:
        return dict(self.files)

    def _replace(self, path: str, edit: Replace, message: int) -> None:
        text = self.files.get(path)
        if text is None:
            self.problems[path] = (
                f"message {message}: {path}: a part was replaced, and the session never shows the whole"
            )
            return
        changed = _replaced(text, edit)
        if changed is None:
            self.problems[path] = f"message {message}: {path}: the text that was replaced is not in it"
        else:
            self._put(path, changed, message)

    def _put(self, path: str, text: str, message: int | None = None) -> None:
        if len(self.files) < _MOST_FILES and len(text) <= _MOST_CHARACTERS:
            self.files[path] = text
            if message is not None:
                self.written_by[path] = message

    def _known(self, path: str) -> str:
        """The path under which the file is known: tools name it in full, or relative to the folder of the project."""
        path = _normal(path)
        if path in self.files or path.count("/") == 0:
            return path
        alike = [
            each for each in self.files if each.endswith(f"/{path}") or (_parts(each) > 1 and path.endswith(f"/{each}"))
        ]
        return alike[0] if len(alike) == 1 else path


def _parts(path: str) -> int:
    return path.count("/") + 1


def _normal(path: str) -> str:
    return posixpath.normpath(path.strip().replace("\\", "/")).removeprefix("./")


def _replaced(text: str, edit: Replace) -> str | None:
    """None where the old text is not there."""
    if not edit.old:
        return text + edit.new
    for old, new in _spellings(edit):
        if old in text:
            return text.replace(old, new) if edit.everywhere else text.replace(old, new, 1)
    return None


def _spellings(edit: Replace) -> list[tuple[str, str]]:
    """As it is, and without the line end that a patch adds where a file has none."""
    ends = edit.old.endswith("\n") and edit.new.endswith("\n")
    return [(edit.old, edit.new), *([(edit.old[:-1], edit.new[:-1])] if ends and len(edit.old) > 1 else [])]
