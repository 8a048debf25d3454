"""`cli guidelines build`: the files that editors read, written to a folder or held against what is there."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from convex_evals import __version__
from convex_evals.config import Workspace
from convex_evals.errors import UserError, write_advice
from convex_evals.guidelines.document import Guidelines, read_guidelines
from convex_evals.guidelines.editor_text import BuiltFile, build_files, is_ours
from convex_evals.inputs import bounded_yaml, confined
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.models.tokens import TokenCounter, offline_counter
from convex_evals.render.data import records
from convex_evals.render.model import Cell, Column, Row, Section, Table
from convex_evals.suite.prompt import guidelines_sha256
from convex_evals.text import counted

DEFAULT_OUT = Path("guidelines", "dist")
# Beside the guidelines: titles of the pages that their rules cite, by address.
_TITLES = "sources.yaml"
_MOST = 16 * 1024 * 1024  # bytes of a file in the way
_COLUMNS = (
    Column("tool", "tool", is_id=True),
    Column("file", "file", is_id=True),
    Column("bytes", "bytes", right=True, spare=2),
    Column("tokens", "tokens", right=True, spare=1),
    Column(None, "length", right=True),
    Column("size", None),
    Column("limit", None),
    Column("unit", None),
    Column("strict", None),
    Column("documented", None),
    Column("left_out", "left out", right=True, spare=1),
    Column("state", "state"),
)


class State(Enum):
    """What is there, compared with what should be."""

    CURRENT = "up to date"
    STALE = "out of date"
    MISSING = "missing"
    WRITTEN = "written"


@dataclass(frozen=True)
class OutFolder:
    """Where the files go."""

    path: Path
    root: Path  # below which no link is followed
    is_own: bool  # whatever stands there was made from the guidelines, and may be replaced

    @staticmethod
    def of(workspace: Workspace, out: Path | None) -> OutFolder:
        """The folder that is asked for, or that of the suite."""
        if out is None:
            return OutFolder(workspace.suite / DEFAULT_OUT, workspace.suite, True)
        return OutFolder(out.absolute(), out.absolute(), False)

    def read(self, file: BuiltFile) -> bytes | None:
        """What stands in its place. Raises `UserError`."""
        return confined.read_bytes(self.path / file.path, self.root, _MOST)


@dataclass(frozen=True)
class Build:
    """Files as they should be, and what there is in their places."""

    guidelines: Guidelines
    out: OutFolder
    files: tuple[BuiltFile, ...]
    states: tuple[State, ...]
    counter: TokenCounter

    @property
    def stale(self) -> list[str]:
        """Files that are not as they should be, by their places in the folder."""
        pairs = zip(self.files, self.states, strict=True)
        return [file.path for file, state in pairs if state in (State.STALE, State.MISSING)]

    def write(self) -> Build:
        """Write what is not as it should be. Raises `UserError`; nothing is written over what is not ours."""
        for file, state in zip(self.files, self.states, strict=True):
            if state is State.STALE and not self.out.is_own and not is_ours(self.out.read(file) or b""):
                raise UserError(
                    f"{self.out.path / file.path}: was not written by `cli guidelines build`, or edited since; "
                    "move it away, or name another folder with --out"
                )
        states = list(self.states)
        for i, file in enumerate(self.files):
            if states[i] is not State.CURRENT:
                self._write(file)
                states[i] = State.WRITTEN
        return replace(self, states=tuple(states))

    def _write(self, file: BuiltFile) -> None:
        path = self.out.path / file.path
        try:
            confined.write(path, self.out.root, file.text.encode())
        except OSError as error:
            advice = write_advice(error.errno, elsewhere := "name another folder with --out") or elsewhere
            raise UserError(f"cannot write {path}: {error.strerror}; {advice}") from error

    def to_section(self) -> Section:
        lines = [f"{self.out.path}: {counted(len(self.files), 'file')}; sizes in bytes and {self.counter.label}."]
        if any(file.left_out for file in self.files):
            lines.append("Left out are the rules that the fewest evals name; --json lists them.")
        return Section.of(*lines, Table.of(_COLUMNS, self._rows()))

    def to_data(self) -> dict[str, Any]:
        rows = records(Table.of(_COLUMNS, self._rows()))
        for row, file in zip(rows, self.files, strict=True):
            row["left_out"] = [self._rule(place) for place in file.left_out]
        return {
            "folder": str(self.out.path),
            "version": __version__,
            "guidelines_sha256": guidelines_sha256(self.guidelines.text),
            "rules": len(self.guidelines.rules),
            "files": rows,
        }

    def _rule(self, place: int) -> dict[str, Any]:
        rule = self.guidelines.rules[place]
        return {"line": rule.line, "section": self.guidelines.section_of(rule).name, "text": rule.headline}

    def _rows(self) -> list[Row]:
        tokens = self.counter.count(*(file.text for file in self.files))
        return [_row(file, number, state) for file, number, state in zip(self.files, tokens, self.states, strict=True)]


def _row(file: BuiltFile, tokens: int, state: State) -> Row:
    limit, size = file.kind.limit, len(file.text.encode())
    row: list[Cell | str | int | None] = [
        file.kind.tool,
        file.path,
        Cell(f"{size:,}", size),
        Cell(f"{tokens:,}", tokens),
    ]
    if limit is None:
        row += ["no limit", None, None, None, None, None]
    else:
        own = limit.size(file.text)
        row += [f"{own:,} of {limit.most:,} {limit.unit}", own, limit.most, limit.unit, limit.strict, limit.page]
    return [*row, len(file.left_out), state.value]


def read_build(workspace: Workspace, experiment: str, out: OutFolder, tools: Collection[str]) -> Build:
    """The files of `tools` of the guidelines that `experiment` gives, and what there is in their places.

    Raises `UserError` where it gives none.
    """
    # Brings along all that a run takes.
    from convex_evals.runs.named_text import guidelines_text

    where = workspace.config.experiment(experiment).guidelines
    if where is None:
        raise UserError(f"-e {experiment}: gives no guidelines; name another experiment")
    text = guidelines_text(where, workspace.suite)
    path = PurePosixPath(where if is_there(workspace.suite, where) else where.rpartition("@")[0] or where)
    found = read_guidelines(text)
    files = build_files(found, path.stem, _titles(workspace.suite, str(path.parent / _TITLES)), tools)
    states = tuple(_state(file, out) for file in files)
    return Build(found, out, tuple(files), states, offline_counter())


def _state(file: BuiltFile, out: OutFolder) -> State:
    content = out.read(file)
    if content is None:
        return State.MISSING
    # A checkout may have CRLF.
    return State.CURRENT if content.replace(b"\r\n", b"\n") == file.text.encode() else State.STALE


def _titles(suite: Path, path: str) -> Mapping[str, str]:
    """The titles of pages; none where no such file is there. Raises `UserError`."""
    if not is_there(suite, path):
        return {}
    try:
        titles = bounded_yaml.load(read_inside(suite, path))
    except (yaml.YAMLError, ValueError, RecursionError):
        titles = None
    if not isinstance(titles, dict) or not all(isinstance(word, str) for pair in titles.items() for word in pair):
        raise UserError(f"{suite / path}: expected a line `ADDRESS: TITLE` for each page; fix it, or remove it")
    return titles
