"""Names in the package: one word, one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from tests.syntax import parsed

PACKAGE = Path(__file__).parents[2] / "convex_evals"


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        if "node_modules" in path.parts:
            continue
        for node in parsed(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
