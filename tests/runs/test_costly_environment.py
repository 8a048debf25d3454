"""A `.env` of a pull request costs little to read, or one line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.runs.request import load_environment
from tests.factories import write_files

pytestmark = pytest.mark.full

SECONDS = 5


@pytest.mark.parametrize(
    "text",
    [
        "A=b" + " " * 500_000 + "c",
        "A=b" + "\t" * 60_000 + "c",
        ("A=b" + " " * 4_000 + "c\n") * 16,
        "A='\n" * 1_000_000,
        "X_KEY=y\n" * 100_000,
    ],
    ids=["a long line", "a line", "many lines", "quotes", "many keys"],
)
def test_an_environment_costs_little(text: str, tmp_path: Path) -> None:
    write_files(tmp_path, {".env": text})
    start = time.monotonic()
    try:
        load_environment(tmp_path)
    except UserError as error:
        assert "\n" not in str(error) and str(tmp_path / ".env") in str(error)
    else:
        assert len(text) < 65_536
    assert time.monotonic() - start < SECONDS
