"""Files of JSON that no agent keeps in a place of its own: which of a folder are read, and the values in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path, PurePath
from typing import Any

from convex_evals.sessions.conversation import Problems
from convex_evals.sessions.folders import is_private, project_files
from convex_evals.sessions.lines import LARGEST_FILE, LONGEST_LINE, FileLine, json_file, json_lines
from convex_evals.text import well_formed

_LINES = (".jsonl", ".ndjson")
_SUFFIXES = (".json", *_LINES)
_CREDENTIALS = ("auth.json", "*oauth_creds*", "*_accounts.json", "*credentials*", "settings.json", "*.settings.json")
# JSON can hold halves of characters, that no file can.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def conversation_files(place: Path) -> Iterator[Path]:
    """`place` if it is a file, whatever its name if that is none of credentials; else files of JSON below it."""
    if place.is_file():
        if not holds_credentials(place):
            yield place
        return
    yield from (path for path in project_files(place, _is_json) if not is_private(path))


def _is_json(name: str) -> bool:
    return PurePath(name).suffix.lower() in _SUFFIXES


def holds_credentials(file: Path) -> bool:
    """Whether a file has the name of one with credentials, which is not opened even where a person names it."""
    return any(fnmatch(file.name.lower(), pattern) for pattern in _CREDENTIALS)


def json_values(file: Path, problems: Problems) -> Iterator[FileLine]:
    """All of `file` where it is one document, else each of its lines. What cannot be read is told, and among them."""
    if holds_credentials(file):
        problems(f"{file}: holds credentials or settings; not opened")
        return
    try:
        if file.stat().st_size > LARGEST_FILE:
            problems(f"{file}:1: larger than {LARGEST_FILE:,} bytes; skipped")
            return
        for line in _values(file):
            if line.problem:
                problems(f"{file}:{line.number}: {line.problem}; left out")
            yield replace(line, value=sound(line.value)) if _HALF.search(line.text) else line
    except OSError as error:
        problems(f"{file}: cannot be read: {error.strerror or error}; what was not read yet is skipped")


def sound(value: Any) -> Any:
    """With every text as a file can hold it."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(well_formed(text))


def raw(value: Any) -> str:
    """The text of a record that is a part of a document."""
    return well_formed(json.dumps(value, ensure_ascii=False))


def _values(file: Path) -> Iterator[FileLine]:
    if file.suffix.lower() in _LINES:
        return json_lines(file)
    whole = json_file(file) if file.stat().st_size <= LONGEST_LINE else None
    if whole and not whole.problem:
        text = whole.text.strip()
        return iter((replace(whole, text=raw(whole.value) if "\n" in text else text),))
    first = next(json_lines(file), None)
    if whole and (first is None or not isinstance(first.value, dict | list)):
        return iter((whole,))
    return json_lines(file)
