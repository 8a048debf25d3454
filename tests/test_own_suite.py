"""The suite of this repository: its graders tell right from wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from convex_evals.suite import load_suite
from tests.conftest import ROOT, clean_environment


def validate() -> list[dict[str, Any]]:
    argv = [sys.executable, str(ROOT / "cli.py"), "validate", "--json"]
    done = subprocess.run(argv, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4), done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_answers_pass_and_mistakes_are_caught(soak: bool) -> None:
    rows = validate()
    off = [
        f"{r['eval']} {r['project']}: {r['outcome']} at {r['caught_by']}: {r['reason']}"
        for r in rows
        if not r["as_expected"]
    ]
    assert not off, "\n".join(off)
    if soak:
        again = validate()
        assert [(r["eval"], r["project"], r["outcome"], r["caught_by"]) for r in again] == [
            (r["eval"], r["project"], r["outcome"], r["caught_by"]) for r in rows
        ]


def test_every_eval_brings_proof() -> None:
    suite = load_suite(ROOT)
    assert len(suite.categories) == 8
    for ev in suite.select():
        assert len(ev.wrong()) >= 3 and len(ev.accept()) >= 1, ev.id
        assert (ev.path / "answer" / "convex" / "_generated").is_dir(), (
            f"{ev.id}: the answer's _generated is not committed"
        )
    wrong = [p for ev in suite.evals for p in ev.wrong()]
    assert sum(p.caught_by == "tests" for p in wrong) >= len(wrong) / 2
