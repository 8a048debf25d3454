"""A model's response to files: pure, and safe against every path that leaves the project."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from convex_evals.inputs.reserved_names import is_reserved
from convex_evals.suite.blocks import Fenced, Heading, blocks

MAX_FILES = 1_000
MAX_FILE_BYTES = 1_048_576
MAX_TOTAL_BYTES = 8 * 1_048_576
# Of a response: the largest set of files, and as much text around them.
MAX_RESPONSE = 2 * MAX_TOTAL_BYTES
_MAX_NOTES = 20
# Reading more than this takes longer than other tasks should wait.
_AT_ONCE = 32_768
_MAX_NAME = 200
_MAX_PATH = 400
_MAX_DEPTH = 20
# Bundlers read what follows some of these as a query, a fragment or a namespace, URLs an escape, and Windows has none.
_AMBIGUOUS = frozenset('?#%:*<>|"')
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp"})


@dataclass(frozen=True)
class Extraction:
    """The files of a response, in order of appearance, and what was odd about it."""

    files: Mapping[str, str]
    notes: tuple[str, ...] = ()


@dataclass
class _State:
    files: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    path: str | None = None
    taken: bool = False


def extract(response: str) -> Extraction:
    """Files of a response: a `# Files` heading, then a `## path` heading and one fenced block per file.

    Never raises, whatever the text. A path that occurs twice: the last one counts. A second block under one
    heading is not a file. Without a `# Files` heading, path headings anywhere count. A response of more than
    `MAX_RESPONSE` characters has no files.
    """
    if len(response) > MAX_RESPONSE:
        return Extraction({}, (f"{len(response):,} characters (at most {MAX_RESPONSE:,}) were not read",))
    found = list(blocks(response))
    start = 0
    for i, block in enumerate(found):
        if isinstance(block, Heading) and block.level == 1 and _bare(block.title).lower() == "files":
            start = i + 1
    state = _State()
    for block in found[start:]:
        if isinstance(block, Fenced):
            _take(state, block.text)
        else:
            title = _bare(block.title)
            state.path = title if block.level != 1 and _looks_like_path(title) else None
            state.taken = False
    return Extraction(state.files, _shortened(state.notes))


async def extract_aside(response: str) -> Extraction:
    """`extract` for an event loop, which goes on with other tasks while a long response is read."""
    if len(response) <= _AT_ONCE:
        return extract(response)
    return await asyncio.to_thread(extract, response)


def _shortened(notes: list[str]) -> tuple[str, ...]:
    more = len(notes) - _MAX_NOTES
    return (*notes[:_MAX_NOTES], f"and {more} more of the kind") if more > 0 else tuple(notes)


def _take(state: _State, content: str) -> None:
    if state.path is None:
        return
    if state.taken:
        state.notes.append(f"{state.path}: a second block under one heading was left out")
        return
    if state.path in state.files:
        state.notes.append(f"{state.path}: given twice; the last one counts")
        del state.files[state.path]
    state.files[state.path] = content
    state.taken = True


def _looks_like_path(title: str) -> bool:
    return len(title) <= 2 * _MAX_PATH and not re.search(r"[\s`*]", title) and title.strip("/.") != ""


def _bare(title: str) -> str:
    return title.strip().strip("*`").strip().removesuffix(":").strip("*`").strip()


def render_response(files: Mapping[str, str]) -> str:
    """The response that a model would have given for `files`: what `extract` reads back."""
    parts = ["# Files\n"]
    for path, text in files.items():
        body = text if text.endswith("\n") or not text else text + "\n"
        longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
        fence = "`" * max(3, longest + 1)
        language = PurePosixPath(path).suffix.removeprefix(".")
        parts.append(f"## {path}\n\n{fence}{language}\n{body}{fence}\n")
    return "\n".join(parts)


def path_problem(path: str) -> str | None:
    """Why `path` may not be written below a project folder; None where it may."""
    if not path or path.startswith(("/", "\\")) or re.match(r"^[A-Za-z]:", path):
        return "not a relative path"
    if "\\" in path:
        return "has a backslash"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "is not valid Unicode"
    for c in path:
        if unicodedata.category(c) in _UNSEEN:
            return "has a control character"
        if c in _AMBIGUOUS:
            return f"has a {c}, which not all tools that build and check a project take for a part of a name"
    if len(path.encode()) > _MAX_PATH or path.count("/") >= _MAX_DEPTH:
        return f"is longer than {_MAX_PATH} bytes or deeper than {_MAX_DEPTH} folders"
    for part in path.split("/"):
        if part in ("", ".", ".."):
            return "has an empty, '.' or '..' part"
        if len(part.encode()) > _MAX_NAME:
            return f"has a part longer than {_MAX_NAME} bytes"
        if part.endswith((".", " ")) or part.startswith(" "):
            return "has a part that ends in a dot or a space"
        if is_reserved(part):
            return "has a reserved name"
        if part.casefold() in {"node_modules", ".git"}:
            return f"is inside {part}"
    return None


def files_problem(files: Mapping[str, str]) -> str | None:
    """Why these files may not be written; None where they may."""
    if not files:
        return "the response has no files"
    if len(files) > MAX_FILES:
        return f"{len(files)} files (at most {MAX_FILES})"
    total = 0
    seen: dict[str, str] = {}
    for path, text in files.items():
        problem = path_problem(path)
        if problem:
            return f"path {_quoted(path)} {problem}"
        size = len(text.encode("utf-8", "replace"))
        total += size
        if size > MAX_FILE_BYTES:
            return f"{path}: {size:,} bytes (at most {MAX_FILE_BYTES:,})"
        clash = _clash(path, seen)
        if clash:
            return f"path {_quoted(path)} collides with {_quoted(clash)}"
    if total > MAX_TOTAL_BYTES:
        return f"{total:,} bytes in all (at most {MAX_TOTAL_BYTES:,})"
    return None


def _clash(path: str, seen: dict[str, str]) -> str | None:
    """A path that is the same file, or a file where this needs a folder, on some file system."""
    folded = unicodedata.normalize("NFKC", path).casefold()
    parents = [folded[:i] for i, c in enumerate(folded) if c == "/"]
    for key in (folded, *(f"{p}" for p in parents)):
        if key in seen and not seen[key].startswith("\0"):
            return seen[key]
    if folded in seen:
        return seen[folded][1:]
    seen[folded] = path
    for parent in parents:
        seen.setdefault(parent, "\0" + path)
    return None


def _quoted(path: str) -> str:
    shown = path if len(path) <= 80 else path[:77] + "..."
    return "'" + "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in shown) + "'"
