"""All files of a project together have a limit: in Git, gigabytes of them are one small blob."""

from __future__ import annotations

from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.suite.suite import read_project
from tests.conftest import Invoke
from tests.factories import EVAL, make_eval

pytestmark = pytest.mark.full


@pytest.mark.parametrize(("files", "size"), [(30, 4 << 20), (4_000, 20_000)])
def test_a_project_of_gigabytes_is_not_read(files: int, size: int, tmp_path: Path, invoke: Invoke) -> None:
    answer = make_eval(tmp_path) / "answer"
    for n in range(files):
        (answer / f"f{n}.ts").touch()
        with (answer / f"f{n}.ts").open("r+b") as file:
            file.truncate(size)
    with pytest.raises(UserError, match=r"answer: more than 64 MiB in all"):
        read_project(answer)
    result = invoke("plan", "-m", "reference", cwd=tmp_path)
    assert result.status == 1 and result.err.count("\n") == 1 and EVAL in result.err, result
