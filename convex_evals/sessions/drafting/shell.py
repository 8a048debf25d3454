"""What commands of a shell did to files, as far as their text alone tells it, and which of them checked something."""

from __future__ import annotations

import re
from collections.abc import Iterator

from convex_evals.sessions.drafting.steps import Edit, Move, Remove, Write

_LONGEST = 1_000_000  # characters of a command
_LONGEST_SHOWING = 500
# Blanks are counted: an unlimited number of them in two places would take the square of the time.
_B = r"[ \t]{0,40}"
_TARGET = r"[\w./~@$\[\]()-]{1,400}"


def _word(name: str) -> str:
    """The pattern of what begins a heredoc, with names that end in `name`."""
    return rf"<<-?{_B}(?P<quote{name}>['\"]?)(?P<word{name}>\w{{1,80}})(?P=quote{name})"


_HEREDOC = re.compile(
    rf"\b(?:cat|tee)[ \t]{_B}(?:>{_B})?(?P<path>{_TARGET}){_B}{_word('')}[^\n]*\n"
    rf"|\bcat{_B}{_word('2')}{_B}>{_B}(?P<path2>{_TARGET})[^\n]*\n"
)
_START = rf"(?:^|[;&|\n]){_B}(?:git[ \t]{_B})?"
_REMOVED = re.compile(rf"{_START}rm[ \t]{_B}((?:-\w{{1,20}}[ \t]{_B}){{0,9}})([^;&|\n<>]+)")
_MOVED = re.compile(
    rf"{_START}mv[ \t]{_B}(?:-\w{{1,20}}[ \t]{_B}){{0,9}}([^\s;&|<>]+)[ \t]{_B}([^\s;&|<>]+){_B}(?=$|[;&|\n])"
)
_FILE = r"(?P<path>[^\s;&|<>*'\"]+)"
_LINES = r"['\"]?1,(?P<lines>\d{1,6})p['\"]?"
# Commands that show a file from its beginning; `lines` is how many of it at most.
_SHOWN = tuple(
    re.compile(rf"\s*(?:cd\s+[^\s;&|]+\s*(?:&&|;)\s*)?{pattern}\s*")
    for pattern in (
        rf"(?:cat|bat)(?:\s+-n)?\s+{_FILE}",
        rf"nl\s+-ba\s+{_FILE}",
        rf"sed\s+-n\s+{_LINES}\s+{_FILE}",
        rf"(?:nl\s+-ba|cat\s+-n|cat)\s+{_FILE}\s*\|\s*sed\s+-n\s+{_LINES}",
        rf"head\s+(?:-n\s*|-)(?P<lines>\d{{1,6}})\s+{_FILE}",
    )
)
_CHECKS = re.compile(
    r"\b(?:convex\s+(?:dev|run|deploy|codegen|logs|data)|tsc|vitest|jest|eslint|curl|playwright"
    r"|(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|lint|build|typecheck|check)\b)"
)


def shell_edits(command: str) -> Iterator[Edit]:
    """Files that a command wrote from its own text, removed or moved, in the order of its text."""
    if len(command) > _LONGEST:
        return
    at, plain = 0, []
    for found in _HEREDOC.finditer(command):
        if found.start() < at:
            continue  # within the text of another
        word, path = found["word"] or found["word2"], found["path"] or found["path2"]
        end = _end_of(command, word, found.end())
        plain.append(command[at : found.start()])
        yield Write(path, command[found.end() : end])
        at = end
    plain.append(command[at:])
    rest = "\n".join(plain)
    for removed in _REMOVED.finditer(rest):
        if "r" not in removed[1] and "R" not in removed[1]:
            yield from (Remove(path) for path in removed[2].split() if not path.startswith("-"))
    for moved in _MOVED.finditer(rest):
        yield Move(moved[1], moved[2])


def _end_of(command: str, word: str, start: int) -> int:
    """Where the line of the heredoc's last word begins; the end of the command where there is none."""
    found = re.compile(rf"^[ \t]*{re.escape(word)}[ \t]*$", re.MULTILINE).search(command, start)
    return found.start() if found else len(command)


def shown_file(command: str) -> tuple[str, int | None] | None:
    """The one file that a command showed, and how many lines of it at most; None where it did something else."""
    for pattern in _SHOWN if len(command) <= _LONGEST_SHOWING else ():
        if found := pattern.fullmatch(command):
            lines = found.groupdict().get("lines")
            return found["path"], int(lines) if lines else None
    return None


def is_check(command: str) -> bool:
    """Whether the command looks at what a project does, or whether it is in order."""
    return bool(_CHECKS.search(command[:_LONGEST]))
