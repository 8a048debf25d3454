"""Suites about something else: docs/examples/ does what docs/other-products.md says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, Invoke, clean_environment
from tests.factories import make_eval, write_files
from tests.provider import Provider, models_yaml, serve

SQLITE = ROOT / "docs" / "examples" / "sqlite"
ANSWER = SQLITE / "evals" / "000-queries" / "000-totals" / "answer" / "report.sql"


def cli(folder: Path, *words: str) -> str:
    argv = [sys.executable, str(ROOT / "cli.py"), *words]
    done = subprocess.run(argv, cwd=folder, env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_is_generated_for_what_has_no_backend(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path, files={"eval.yaml": "pipeline: static"})
    for words in (["--check"], []):
        done = invoke("codegen", *words)
        assert (done.status, done.out) == (0, "0 of 0 up to date; 1 static eval left out\n"), done.err
    assert invoke("codegen", "--json").out.strip() == "[]"


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_static_evals_are_left_out_among_others(tmp_path: Path) -> None:
    make_eval(tmp_path)
    make_eval(tmp_path, "001-other/000-static", {"eval.yaml": "pipeline: static", "answer/convex/main.ts": "not code"})
    assert "000-fundamentals/000-answer: written:" in cli(tmp_path, "codegen")
    assert cli(tmp_path, "codegen", "--check") == "1 of 1 up to date; 1 static eval left out\n"


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_a_suite_about_sqlite(tmp_path: Path) -> None:
    suite = shutil.copytree(SQLITE, tmp_path / "suite", ignore=shutil.ignore_patterns(".cache", "runs"))
    assert "All verdicts are as expected." in cli(suite, "validate")
    reply = f"# Files\n\n## report.sql\n\n```sql\n{ANSWER.read_text()}```\n"
    with serve(Provider(reply=reply)) as stub:
        write_files(suite, {"models.yaml": models_yaml(stub.url), ".env": "STUB_KEY=x\n"})
        runs = json.loads(cli(suite, "run", "-m", "stub/model", "-e", "default", "-e", "no_guidelines", "--json"))
    assert [run["pass_rates"]["all"]["pass_rate"] for run in runs] == [1, 1]
    told, bare = sorted((json.dumps(body["messages"]) for body in stub.requests), key=len, reverse=True)
    assert "You write SQL" in told and "LEFT JOIN" in told and "You write SQL" in bare and "LEFT JOIN" not in bare
    assert "Convex" not in told + bare
