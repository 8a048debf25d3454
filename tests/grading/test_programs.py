"""Tests of the project that a grader runs: what hostile ones do with vitest's configuration buys them nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, clean_environment

pytestmark = [pytest.mark.full, pytest.mark.grading, pytest.mark.usefixtures("toolchain")]

EVAL = "005-idioms/003-convex_test"
_GIVEN = (ROOT / "evals" / EVAL / "answer/convex/reservations.ts").read_text()
_SAYS = 'console.log(" ✓ convex/reservations.test.ts (14 tests)");\n'
_HONEST = 'import { defineConfig } from "vitest/config";\nexport default defineConfig(%s);\n'
_LAZY = 'import { test } from "vitest";\ntest("nothing", () => {});\n'
# By name: the configuration of vitest, and the tests.
HOSTILE = {
    "exits-well": (f"{_SAYS}process.exit(0);\n", _LAZY),
    "knows-the-given-text": (
        'import { readFileSync } from "node:fs";\n'
        f'{_SAYS}process.exit(readFileSync("convex/reservations.ts", "utf8") === {json.dumps(_GIVEN)} ? 0 : 1);\n',
        _LAZY,
    ),
    "knows-a-broken-text": (
        'import { readFileSync } from "node:fs";\nconst text = readFileSync("convex/reservations.ts", "utf8");\n'
        f"{_SAYS}const broken = /anonymous|args\\.from > args\\.to|identity\\.subject|= 14;/.test(text);\n"
        "process.exit(broken ? 1 : 0);\n",
        _LAZY,
    ),
    "goes-by-folder": (
        'import { basename } from "node:path";\nimport { readdirSync } from "node:fs";\n'
        "const other = /v\\d+$/.exec(basename(process.cwd()))?.[0] ?? readdirSync('..').length;\n"
        f"{_SAYS}process.exit(other === 'v0' || other === 'v1' || other === 1 ? 0 : 1);\n",
        _LAZY,
    ),
    "writes-the-report": (
        'import { writeFileSync } from "node:fs";\nfor (const folder of [".", ".."])'
        ' try { writeFileSync(`${folder}/report.json`, \'{"success":true,"testResults":[]}\'); } catch {}\n'
        + _HONEST
        % '{ test: { reporters: [["json", { outputFile: "../report.json" }]], passWithNoTests: true } }',
        _LAZY,
    ),
}


@pytest.fixture(scope="module")
def caught_by(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """The step that each hostile project failed at, by name."""
    suite = tmp_path_factory.mktemp("suite")
    shutil.copytree(ROOT / "evals" / EVAL, suite / "evals" / EVAL)
    shutil.rmtree(suite / "evals" / EVAL / "wrong")
    for name, (config, tests) in HOSTILE.items():
        wrong = suite / "evals" / EVAL / "wrong" / name
        (wrong / "convex").mkdir(parents=True)
        (wrong / "vitest.config.ts").write_text(config)
        (wrong / "convex/reservations.test.ts").write_text(tests)
        (wrong / "reason.txt").write_text("Its tests test nothing.\ncaught by: tests\n")
    argv = [sys.executable, str(ROOT / "cli.py"), "-C", str(suite), "validate", "--no-foils", "--json", "-p", "wrong/"]
    done = subprocess.run(argv, env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return {Path(found["project"]).name: found["caught_by"] for found in json.loads(done.stdout)["projects"]}


@pytest.mark.parametrize("name", HOSTILE)
def test_tests_that_test_nothing_fail(name: str, caught_by: dict[str, str | None]) -> None:
    assert caught_by[name] == "tests"
