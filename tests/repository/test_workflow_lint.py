"""The linters of the check find mistakes: each is planted into a file of ours that has none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import patience
from tests.conftest import ROOT, clean_environment

RELEASE = ROOT / ".github" / "workflows" / "release.yml"
DEPENDABOT = ROOT / ".github" / "dependabot.yml"
pytestmark = pytest.mark.full
UNKNOWN_INPUT = 'input "keep-credentials" is not defined in action "actions/checkout@v4"'

# Where it is, what is changed, into what, and what is said of it.
PLANTED = {
    "job": (RELEASE, "needs: attest", "needs: test", 'needs job "test" which does not exist'),
    "input": (RELEASE, "persist-credentials", "keep-credentials", UNKNOWN_INPUT),
    "pin": (RELEASE, "@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2", "@v4", "unpinned-uses"),
    "script": (RELEASE, "cli list evals", "cli list ${{ github.ref_name }}", "template-injection"),
    "right": (RELEASE, "contents: write # makes", "contents: write\n# makes", "undocumented-permissions"),
    "cooldown": (DEPENDABOT, "default-days: 7", "default-days: 1", "dependabot-cooldown"),
}


def lint(*paths: Path) -> tuple[int, str]:
    argv = [sys.executable, "scripts/lint_workflows.py", *map(str, paths)]
    env = clean_environment(PYTHONPATH=str(ROOT), NO_COLOR="1")
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(300), check=False
    )
    return done.returncode, done.stdout + done.stderr


def plant(original: Path, folder: Path, before: str, after: str) -> Path:
    text = original.read_text(encoding="utf-8")
    assert before in text
    folder.mkdir()
    path = folder / original.name
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    return path


def test_each_planted_mistake_is_found(tmp_path: Path) -> None:
    paths = [plant(path, tmp_path / name, *change) for name, (path, *change, _) in PLANTED.items()]
    status, said = lint(*paths)
    missed = [name for name, (*_, finding) in PLANTED.items() if finding not in said]
    assert (status, missed) == (1, []), said


def test_the_same_files_without_a_mistake_pass(tmp_path: Path) -> None:
    status, said = lint(*(plant(path, tmp_path / path.stem, "", "") for path in (RELEASE, DEPENDABOT)))
    assert status == 0 and "Checking 1 workflow file(s)" in said, said


def test_a_file_that_cannot_be_parsed_fails(tmp_path: Path) -> None:
    status, said = lint(plant(RELEASE, tmp_path / "torn", "permissions: {}", "permissions: {"))
    assert status == 1 and "could not parse as YAML" in said, said


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    assert lint(tmp_path / "none.yml") == (1, f"error: {tmp_path / 'none.yml'}: no such file\n")
