"""Holds GitHub's files against actionlint (do they say what GitHub understands?) and zizmor (is it safe?).

    python scripts/lint_workflows.py              our workflows, the starter's, and dependabot.yml
    python scripts/lint_workflows.py FILE ...     these files

Any finding fails, of whatever severity. zizmor reads the files alone: what it knows by asking GitHub is left out, so
that the same files give the same findings.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from convex_evals.config import cache_dir
from convex_evals.errors import ExitCode, UserError
from convex_evals.grading.node import find_node

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from scripts.command import start  # noqa: E402
from scripts.npm_packages import install_packages  # noqa: E402

GITHUB = ROOT / ".github"
STARTER = ROOT / "convex_evals" / "suite" / "starter" / "files" / "dot-github"
DEPENDABOT = "dependabot.yml"
_ACTIONLINT = Path(__file__).parent / "actionlint"
_ZIZMOR = Path(sysconfig.get_path("scripts")) / "zizmor"
_SECONDS = 120
_PINNED = re.compile(r"(uses: +[\w./-]+)@[0-9a-f]{40} +# (v\d+)[\d.]*")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: all of this repository")
    files = parser.parse_args().files or files_of_github()
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise UserError(f"{', '.join(missing)}: no such file")
    clean = [_actionlint([path for path in files if path.name != DEPENDABOT]), _zizmor(files)]
    return ExitCode.OK if all(clean) else ExitCode.USER_ERROR


def files_of_github() -> list[Path]:
    """All files of this repository that GitHub reads, or that it reads in a repository which `cli init` made."""
    workflows = [path for folder in (GITHUB, STARTER) for path in (folder / "workflows").glob("*.y*ml")]
    return sorted([*workflows, GITHUB / DEPENDABOT])


def _actionlint(workflows: Sequence[Path]) -> bool:
    """Lint copies in which an action goes by its version: what its inputs are, actionlint knows by that alone."""
    cache = cache_dir()
    node = find_node(cache)
    packages = asyncio.run(install_packages(_ACTIONLINT, cache, node))
    with tempfile.TemporaryDirectory() as folder:
        for path in workflows:
            copy = Path(folder, str(_shown(path)).lstrip("/"))
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(_PINNED.sub(r"\1@\2", path.read_text(encoding="utf-8")), encoding="utf-8")
        program = packages / "@tktco" / "node-actionlint" / "bin" / "node-actionlint.js"
        return _passes([node.executable, program, "**"], Path(folder)) if workflows else True


def _zizmor(files: Sequence[Path]) -> bool:
    if not _ZIZMOR.is_file():
        raise UserError(f"{_ZIZMOR}: no such file; install what the checks need with `pip install -e '.[dev]'`")
    options = ("--quiet", "--offline", "--no-config", "--strict-collection", "--persona=pedantic")
    return _passes([_ZIZMOR, *options, *map(_shown, files)], ROOT)


def _shown(path: Path) -> Path:
    place = path.resolve()
    return place.relative_to(ROOT) if place.is_relative_to(ROOT) else place


def _passes(argv: Sequence[str | Path], folder: Path) -> bool:
    done = subprocess.run(argv, cwd=folder, timeout=_SECONDS, check=False)
    return done.returncode == 0


if __name__ == "__main__":
    start(main)
