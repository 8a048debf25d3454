"""What commands of a shell did to files, as far as their text alone tells it, and which of them checked something."""

from __future__ import annotations

import re
from collections.abc import Iterator

from convex_evals.sessions.drafting.steps import Edit, Move, Remove, Write

_LONGEST = 1_000_000  # characters of a command
_HEREDOC = re.compile(
    r"""\b(?:cat|tee)\s+(?:>\s*)?(?P<path>[\w./~@$[\]()-]+)\s*<<-?\s*(?P<quote>['"]?)(?P<word>\w+)(?P=quote)[^\n]*\n"""
    r"""|\bcat\s*<<-?\s*(?P<quote2>['"]?)(?P<word2>\w+)(?P=quote2)\s*>\s*(?P<path2>[\w./~@$[\]()-]+)[^\n]*\n"""
)
_REMOVED = re.compile(r"(?:^|[;&|]\s*|\n\s*)(?:git\s+)?rm\s+((?:-\w+\s+)*)([^;&|\n<>]+)")
_MOVED = re.compile(r"(?:^|[;&|]\s*|\n\s*)(?:git\s+)?mv\s+(?:-\w+\s+)*([^\s;&|<>]+)\s+([^\s;&|<>]+)\s*(?=$|[;&|\n])")
_SHOWN = re.compile(r"\s*(?:cd\s+[^\s;&|]+\s*&&\s*)?(?:cat|bat)\s+([^\s;&|<>*]+)\s*")
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


def shown_file(command: str) -> str | None:
    """The one file that a command showed, and nothing else."""
    found = _SHOWN.fullmatch(command) if len(command) <= 500 else None
    return found[1] if found else None


def is_check(command: str) -> bool:
    """Whether the command looks at what a project does, or whether it is in order."""
    return bool(_CHECKS.search(command[:_LONGEST]))
