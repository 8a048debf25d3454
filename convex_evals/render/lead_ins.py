"""What tools print before the cause of an error, told from the cause. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MOST_LINES = 200  # of one message that are looked at
_PLACE = re.compile(r"^\S{1,300}:\d+:\d+:?$")
# A line ends in a colon where it announces the next ones, or where it is about a value: these announce.
_ANNOUNCES = re.compile(
    r"\b(?:errors?|fail(?:ed|s|ure|ures)|following|problems?|unable to [a-z]+|while [a-z]+)\b[^`'\"]{0,200}:$",
    re.IGNORECASE,
)
_BANNER = re.compile(
    "|".join(
        (
            # any tool: rules and marks alone, the echo of a script
            r"[^\w`'\"]+$",
            r"> \S",
            # convex
            r"Loading the pushed modules encountered the following$",
            r"(?:Error: )?Unable to (?:(?:start|finish) push to|wait for schema from|report push completed to) \S+$",
            r"Schema validation failed\.?$",
            r"TypeScript typecheck via `?\w+`? failed\.?$",
            r"To ignore failing typecheck, use ",
            r"(?:Error )?[Ff]etching (?:GET|POST) +\S+$",
            # tsc
            r"Found \d+ errors?(?: in |\.|$)",
            # esbuild
            r"\[WARNING\] ",
            # vitest
            r"(?:Failed (?:Suites|Tests)|Unhandled (?:Errors?|Rejection)|Uncaught Exception)(?: \d+)?$",
            r"FAIL  ?\S",
            r"Vitest caught \d+ unhandled errors? during the test run\.",
            r"This might cause false positive tests\.",
            # npm
            r"npm (?:error|ERR!) code \w+$",
        )
    )
)
_MARKS = " ✖✘×❯⎯─━⚠▲\ufe0f"
_RULE = " ⎯─━"
_SENT = re.compile(r"^(?:Error )?[Ff]etching (?:GET|POST) +\S+ +\d{3} [^:]{1,60}: ")
_ESBUILD_WARNING = "▲ [WARNING] "
_ESBUILD_ERROR = "✘ [ERROR] "


def from_the_cause(text: str) -> list[str]:
    """The lines that are not blank, from the first that says what is wrong; all where none does."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for i, line in enumerate(lines[:_MOST_LINES]):
        told = _undecorated(line)
        if not (_announces(told, lines[i + 1 :]) or _inside_warning(lines, i)):
            return [told, *lines[i + 1 :]]
    return lines


def _undecorated(line: str) -> str:
    if line.startswith(_ESBUILD_ERROR):
        return line
    return _SENT.sub("", line.lstrip(_MARKS).rstrip(_RULE)) or line


def _announces(line: str, rest: Sequence[str]) -> bool:
    if not rest or line.startswith(_ESBUILD_ERROR):
        return False
    return bool(_BANNER.match(line) or (_ANNOUNCES.search(line) and not _PLACE.match(line)))


def _inside_warning(lines: Sequence[str], at: int) -> bool:
    """Whether this line belongs to esbuild's warnings, which end where its first error begins."""
    later = any(line.startswith(_ESBUILD_ERROR) for line in lines[at + 1 : _MOST_LINES])
    return later and any(line.startswith(_ESBUILD_WARNING) for line in lines[: at + 1])
