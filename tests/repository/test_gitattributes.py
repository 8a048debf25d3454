"""What Git and GitHub are told of the files in a suite."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.factories import make_git_repo


@pytest.mark.parametrize("file", [".gitattributes", "convex_evals/suite/starter/files/dot-gitattributes"])
@pytest.mark.parametrize("path", ["runs/acme/model/2026-01-31/default-0/summary.json", "reports/acme/model/default.md"])
def test_results_are_generated_files_to_github(file: str, path: str, tmp_path: Path) -> None:
    """GitHub folds them in the diff of a pull request, and does not count their languages."""
    (tmp_path / ".gitattributes").write_text((ROOT / file).read_text())
    make_git_repo(tmp_path)
    command = ["git", "check-attr", "linguist-generated", path, "evals/a/b/TASK.txt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [line.rpartition(" ")[2] for line in done.stdout.splitlines()] == ["set", "unspecified"]
