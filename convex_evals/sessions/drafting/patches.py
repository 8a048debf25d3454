"""Patches in the form of `apply_patch`, which Codex and others give to a tool of that name, or to a shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from convex_evals.sessions.drafting.steps import Edit, Move, Remove, Replace, Write, text_of

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_ADD, _DELETE, _UPDATE = "*** Add File: ", "*** Delete File: ", "*** Update File: "
_MOVE, _END_OF_FILE = "*** Move to: ", "*** End of File"
_MOST_DEPTH = 4


def patches_in(value: Any, depth: int = 0) -> Iterator[Edit]:
    """The edits of every patch in any text of these arguments."""
    if isinstance(value, str):
        at = value.find(_BEGIN)
        while at >= 0:
            end = value.find(_END, at)
            yield from parse_patch(value[at : end if end >= 0 else len(value)])
            at = value.find(_BEGIN, end) if end >= 0 else -1
    elif depth < _MOST_DEPTH and isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from patches_in(each, depth + 1)


def parse_patch(text: str) -> Iterator[Edit]:
    """Read one patch, without its last line. What is no part of one is passed over."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        if line.startswith(_DELETE):
            yield Remove(line.removeprefix(_DELETE).strip())
        elif line.startswith((_ADD, _UPDATE)):
            end = next((n for n in range(at, len(lines)) if _begins_file(lines[n])), len(lines))
            body, at = lines[at:end], end
            if line.startswith(_ADD):
                added = text_of(each[1:] for each in body if each.startswith("+"))
                yield Write(line.removeprefix(_ADD).strip(), added)
            else:
                yield from _update(line.removeprefix(_UPDATE).strip(), body)


def _begins_file(line: str) -> bool:
    return line.startswith((_ADD, _DELETE, _UPDATE, _END))


def _update(path: str, body: list[str]) -> Iterator[Edit]:
    target = next((line.removeprefix(_MOVE).strip() for line in body if line.startswith(_MOVE)), None)
    old: list[str] = []
    new: list[str] = []
    for line in [*body, "@@"]:
        if line.startswith(("@@", _END_OF_FILE)):
            if old != new:
                yield Replace(path, text_of(old), text_of(new))
            old, new = [], []
        elif not line.startswith("***"):
            kind, rest = line[:1], line[1:]
            # An empty line of context may have lost its blank.
            old += [rest] if kind in ("-", " ", "") else []
            new += [rest] if kind in ("+", " ", "") else []
    if target:
        yield Move(path, target)
