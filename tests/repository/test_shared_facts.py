"""What Python and TypeScript, or two programs that share no code, both have to know: it is the same everywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

from convex_evals.grading.backends import ADMIN_KEY
from convex_evals.grading.tester import CONDITIONS
from tests.conftest import ROOT

NODE = ROOT / "convex_evals" / "node"
# The grader library is read by suites and imports nothing of the backend; the checkout is a suite of its own.
KEYS = [NODE / "backend" / "versions.ts", NODE / "grader" / "connection.ts", ROOT / "tests/checkout/grader/admin.ts"]


def constant(file: Path, name: str) -> object:
    """The value of an exported constant that is a literal in JSON."""
    found = re.search(
        rf"^export const {name}(?:: [^=]+)? =\s*([^;]+);$", file.read_text(encoding="utf-8"), re.MULTILINE
    )
    assert found, f"{file}: no constant {name}"
    return json.loads(found[1])


def test_the_admin_key() -> None:
    assert {file: constant(file, "ADMIN_KEY") for file in KEYS} == dict.fromkeys(KEYS, ADMIN_KEY)


def test_nothing_else_spells_the_admin_key_out() -> None:
    known = {*KEYS, ROOT / "convex_evals/grading/backends/__init__.py"}
    sources = [path for kind in ("py", "ts", "mjs") for path in NODE.parent.rglob(f"*.{kind}")]
    beginning = ADMIN_KEY[:32]
    assert [
        path
        for path in sources
        if path not in known
        and not {"node_modules", "build"} & set(path.relative_to(ROOT).parts)
        and ".bundle." not in path.name
        and beginning in path.read_text(encoding="utf-8")
    ] == []


def test_the_conditions_of_exports() -> None:
    """A grader without vitest resolves packages as vitest does."""
    named = constant(NODE / "tester" / "resolution.ts", "CONDITIONS")
    assert isinstance(named, list)
    assert [f"--conditions={name}" for name in named] == list(CONDITIONS)


def test_the_release_of_convex() -> None:
    wanted = json.loads((NODE / "package.json").read_text(encoding="utf-8"))
    packages = {**wanted.get("dependencies", {}), **wanted.get("devDependencies", {})}
    assert constant(NODE / "backend" / "versions.ts", "CONVEX_VERSION") == packages["convex"]
