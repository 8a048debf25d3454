"""Files in the text of a reply: code between fences under a path, and blocks of Aider that replace a part of a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from convex_evals.sessions.drafting.steps import Edit, Replace, Unreplayable, Write, text_of

_LONGEST = 4_000_000  # characters of a reply
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})([^`]*)")
_PATH = re.compile(r"(?:[\w@.()\[\]-]+/)*[\w@.()\[\]-]+\.(?:tsx?|mts|cts|jsx?|mjs|json|css|html|md|ya?ml)")
_SEARCH, _DIVIDER, _REPLACE = (
    re.compile(r"<{5,9} ?SEARCH\s*"),
    re.compile(r"={5,9}\s*"),
    re.compile(r">{5,9} ?REPLACE\s*"),
)
# A part of a file, with a word for what is left out.
_ELIDED = re.compile(
    r"^[ \t]*(?://|#|/\*|<!--|\{/\*)[ \t]*(?:\.\.\.|…|(?:existing|rest of|unchanged) )", re.MULTILINE | re.IGNORECASE
)
_NAMED = ("package.json", "convex.json", "tsconfig.json")


def is_elided(text: str) -> bool:
    """Whether a file is not whole: a comment stands for what is left out."""
    return bool(_ELIDED.search(text))


def edits_of_text(text: str) -> Iterator[Edit]:
    """What a reply says is in files. Code under no path is a part of the answer to a person, and no file."""
    if len(text) > _LONGEST:
        return
    lines = text.split("\n")
    at, before = 0, ""
    while at < len(lines):
        opening = _FENCE.fullmatch(lines[at].rstrip())
        if opening is None:
            before = lines[at] if lines[at].strip() else before
            at += 1
            continue
        end = _end_of_fence(lines, at + 1, opening[2])
        code = lines[at + 1 : end]
        path = _path_in(opening[3]) or _path_in(before) or _path_of_first_line(code)
        yield from _of_block(path, code)
        at, before = end + 1, ""


def _end_of_fence(lines: list[str], start: int, marker: str) -> int:
    for at in range(start, len(lines)):
        line = lines[at].strip()
        if line.startswith(marker) and not line.strip(marker[0]):
            return at
    return len(lines)


def _of_block(path: str | None, code: list[str]) -> Iterator[Edit]:
    if any(_SEARCH.fullmatch(line) for line in code):
        yield from _search_blocks(path, code)
    elif path is not None:
        if code and _path_in(code[0]) == path and not code[0].lstrip().startswith(("import", "{")):
            code = code[1:]
        text = text_of(code)
        yield Unreplayable(path, "the reply") if is_elided(text) else Write(path, text)


def _search_blocks(path: str | None, code: list[str]) -> Iterator[Edit]:
    part, old, new = "", list[str](), list[str]()
    for line in code:
        if _SEARCH.fullmatch(line):
            part, old, new = "old", [], []
        elif part == "old" and _DIVIDER.fullmatch(line):
            part = "new"
        elif part == "new" and _REPLACE.fullmatch(line):
            part = ""
            if path is not None:
                yield Replace(path, text_of(old), text_of(new)) if old else Write(path, text_of(new))
        elif part:
            (old if part == "old" else new).append(line)
        else:
            path = _path_in(line) or path


def _path_in(line: str) -> str | None:
    """The path of a file that a line names, alone or among other words; only names of several parts are told there."""
    line = line.strip()
    if len(line) > 300:
        return None
    alone = line.strip("#*`:/ \t").removeprefix("File: ").removeprefix("file: ").strip("`* ")
    if _PATH.fullmatch(alone):
        return alone
    found = [each for each in _PATH.findall(line) if "/" in each or each in _NAMED]
    return found[0] if len(found) == 1 else None


def _path_of_first_line(code: list[str]) -> str | None:
    found = re.fullmatch(r"\s*(?://|#|/\*|<!--)\s*(\S+?)\s*(?:\*/|-->)?", code[0]) if code else None
    return found[1] if found and _PATH.fullmatch(found[1]) else None
