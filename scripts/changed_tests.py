"""Which tests a change can reach: by imports, by the commands that tests name, and by the files that they name."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from convex_evals.cli.app import COMMANDS

ROOT = Path(__file__).parents[1]
_PACKAGES = ("convex_evals", "tests", "scripts", "bench")
# Every test can run every command by this module; which one does, its texts tell.
_COMMAND_LINE = "convex_evals.cli.app"
# What is not imported reaches tests that have one of these words in their text.
_WORDS = {
    "convex_evals/node/": ("toolchain", "grading"),
    "leaderboard/": ("LEADERBOARD", "leaderboard"),
    "evals/": ("ROOT", "toolchain"),
    "guidelines/": ("guidelines",),
    "docs/": ("docs", "README"),
    ".github/": ("workflows",),
    "tests/golden/": ("golden",),
}
# A change of anything else (settings, dependencies, what all tests share) reaches all tests.
_NOTHING = ("LICENSE", ".gitignore", ".git-blame-ignore-revs", "docs/images/")


def changed_files(base: str) -> list[str]:
    """Return the paths that differ between `base` and the working tree, and those that Git does not know yet."""
    differing = ["diff", "--name-only", "--no-renames", base]
    unknown = ["ls-files", "--others", "--exclude-standard"]
    return sorted({path for words in (differing, unknown) for path in _git(*words).splitlines() if path})


def find_tests(changed: Iterable[str]) -> list[str] | None:
    """Return the files of tests that `changed` can reach, or None if that is all of them."""
    reach = Reach()
    found: set[str] = set()
    for path in changed:
        tests = reach.find_tests(path)
        if tests is None:
            return None
        found |= tests
    return sorted(found)


class Reach:
    """What each file of this repository reaches."""

    @cached_property
    def texts(self) -> dict[str, str]:
        """The texts of all files of tests, by path."""
        paths = (ROOT / "tests").rglob("test_*.py")
        return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}

    @cached_property
    def importers(self) -> dict[str, set[str]]:
        """The modules that import each module, or run the command that it is."""
        import grimp

        graph = grimp.build_graph(*_PACKAGES)
        found = {module: set(graph.find_modules_that_directly_import(module)) for module in graph.modules}
        found[_COMMAND_LINE] = set()
        for path, text in self.texts.items():
            for command in _strings(text) & set(COMMANDS):
                module = f"convex_evals.cli.commands.{command.replace('-', '_')}"
                found.setdefault(module, set()).add(_module(path))
            for folder in list(Path(path).parents)[:-2]:
                found.setdefault(_module(f"{folder.as_posix()}/conftest.py"), set()).add(_module(path))
        return found

    def find_tests(self, path: str) -> set[str] | None:
        """The files of tests that a file reaches; None for all."""
        if path.startswith(_NOTHING):
            return set()
        module = _module(path) if path.endswith(".py") else None
        if path == "tests/conftest.py" or (module is None and not path.startswith((*_WORDS, *_PACKAGES, "README"))):
            return None
        found = {test for test, text in self.texts.items() if Path(path).name in text}
        for folder, words in _WORDS.items():
            if path.startswith(folder):
                found |= {test for test, text in self.texts.items() if any(word in text for word in words)}
        if module is not None and module not in self.importers:
            return None  # what is deleted was imported by nobody knows whom
        if module is not None:
            found |= self._downstream(module)
        elif path.startswith(_PACKAGES) and not path.startswith(tuple(_WORDS)):
            found |= set().union(*map(self._downstream, self._beside(path)))
        return found

    def _beside(self, path: str) -> list[str]:
        """The modules in the package that a template, a style or a golden file is part of."""
        for folder in Path(path).parents:
            package = folder.as_posix().replace("/", ".")
            if near := [name for name in self.importers if name == package or name.startswith(f"{package}.")]:
                return near
        return []

    def _downstream(self, module: str) -> set[str]:
        seen, left = {module}, [module]
        while left:
            for importer in self.importers.get(left.pop(), set()) - seen:
                seen.add(importer)
                left.append(importer)
        return {path for path in self.texts if _module(path) in seen}


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _strings(text: str) -> set[str]:
    """The string literals of a Python file."""
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
