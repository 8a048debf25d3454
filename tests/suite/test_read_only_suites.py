"""A suite that `-C` names is read, and never written to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Invoke
from tests.factories import make_eval


@pytest.mark.parametrize("command", [["codegen"], ["codegen", "-f", "answer"], ["new-eval", "fundamentals", "more"]])
def test_no_command_writes_to_a_suite_that_is_only_read(command: list[str], invoke: Invoke, tmp_path: Path) -> None:
    suite, own = tmp_path / "theirs", tmp_path / "own"
    own.mkdir()
    make_eval(suite)
    before = {path: path.lstat().st_mtime_ns for path in suite.rglob("*")}
    result = invoke("-C", str(suite), *command, cwd=own)
    assert result.status == 1 and "is only read" in result.err and result.err.count("\n") == 1
    assert {path: path.lstat().st_mtime_ns for path in suite.rglob("*")} == before
