"""The project among the files of a session: what lies beside and below its folder `convex/`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from convex_evals.suite.extract import path_problem
from convex_evals.suite.suite import is_project_file

_FUNCTION = re.compile(
    r"^export\s+const\s+(\w+)\s*=\s*(query|mutation|action|internalQuery|internalMutation|internalAction)\s*\(",
    re.MULTILINE,
)


def root_of(paths: Iterable[str]) -> str | None:
    """The folder above `convex/` with most of the files, with a slash at its end; None where no path has one."""
    roots: Counter[str] = Counter()
    for path in paths:
        folders = path.split("/")[:-1]
        if "convex" in folders and "node_modules" not in folders:
            last = len(folders) - 1 - folders[::-1].index("convex")
            roots["".join(f"{each}/" for each in folders[:last])] += 1
    # A folder of this name may also hold whole projects.
    inner = [root for root in roots if not any(other.startswith(f"{root}convex/") for other in roots)]
    return max(inner, key=lambda root: (roots[root], len(root)), default=None)


def project_of(files: Mapping[str, str], root: str) -> dict[str, str]:
    """What a model would have written of the files below `root`, by their paths there."""
    found = {}
    for path, text in sorted(files.items()):
        own = path.removeprefix(root)
        if path.startswith(root) and is_project_file(own) and not _is_hidden(own) and not path_problem(own):
            found[own] = text
    return found


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def functions_of(project: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The Convex functions that a project exports, in a form that is read without a parser: path, name, kind."""
    return [
        (path, found[1], found[2])
        for path, text in project.items()
        if path.startswith("convex/") and path.endswith(".ts")
        for found in _FUNCTION.finditer(text)
    ]
