"""What a comment says of the rule above it: evals, sources, and the file that its example is checked in.

A comment begins with the evals; each of its other lines begins with a word and a colon:

    <!-- evals: 000-x/001-y, 000-x/002-z
    package: convex/src/server/query.ts "a text in that file"
    page: docs.convex.dev/functions/actions
    example: convex/boats.ts -->

`evals: none` names none. Models never get comments.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from convex_evals.errors import UserError
from convex_evals.text import read_text

_COMMENT = re.compile(r"<!--\s*evals:(.*?)-->", re.DOTALL)
_KEY = re.compile(r"^[ \t]*(package|page|example):", re.MULTILINE)
_NAME = re.compile(r"[^\s,]+")
_CITATION = re.compile(r'(\S+)\s+"(.+)"')
# What begins the lines of comments in TypeScript is no part of a sentence that spans them.
_LINE_START = re.compile(r"^[ \t]*(?:\*(?!/)|//+)", re.MULTILINE)


@dataclass(frozen=True)
class PackageSource:
    """A file below `node_modules`, and a text that stands in it."""

    path: str
    text: str  # "": the comment quotes none


@dataclass(frozen=True)
class Note:
    """A comment, read."""

    evals: tuple[str, ...]
    packages: tuple[PackageSource, ...] = ()
    pages: tuple[str, ...] = ()  # addresses without the scheme
    examples: tuple[str, ...] = ()  # paths


def read_note(comment: str) -> Note | None:
    """What `comment`, an HTML comment, says; None where it names no evals. Never raises."""
    found = _COMMENT.match(comment)
    if found is None:
        return None
    evals, *rest = _KEY.split(found[1])
    said = [(key, " ".join(value.split())) for key, value in zip(rest[::2], rest[1::2], strict=True)]
    return Note(
        tuple(name for name in _NAME.findall(evals) if name != "none"),
        tuple(_package(value) for key, value in said if key == "package"),
        tuple(name for key, value in said if key == "page" for name in _NAME.findall(value)),
        tuple(name for key, value in said if key == "example" for name in _NAME.findall(value)),
    )


def _package(value: str) -> PackageSource:
    found = _CITATION.fullmatch(value)
    return PackageSource(found[1], found[2]) if found else PackageSource(value, "")


def source_problems(notes: Sequence[Note], node_modules: Path, pages: Collection[str]) -> list[str]:
    """Lines: what the sources of one rule lack. `pages` are the addresses that may be cited."""
    packages = [source for note in notes for source in note.packages]
    cited = [page for note in notes for page in note.pages]
    problems = [] if packages or cited else ["cites no source"]
    problems += [problem for source in packages if (problem := _package_problem(source, node_modules))]
    problems += [f"cites {page}, which is not in the list of pages" for page in cited if page not in pages]
    return problems


def _package_problem(source: PackageSource, node_modules: Path) -> str | None:
    if not source.text:
        return f'cites {source.path} without a text; write: package: PATH "TEXT"'
    path = node_modules / source.path
    if ".." in path.parts or not path.is_file():
        return f"cites {source.path}, which is no file of the packages"
    if _flat(source.text) not in _flat_file(path):
        return f'cites {source.path}, which does not say "{source.text}"'
    return None


def _flat(text: str) -> str:
    """`text` on one line."""
    return " ".join(_LINE_START.sub("", text).split())


@cache
def _flat_file(path: Path) -> str:
    try:
        return _flat(read_text(path))
    except UserError:
        return ""
