"""A log of replies that came with a checkout costs little to read, or one line."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from convex_evals.errors import UserError
from convex_evals.store.replies import ReplyFile

pytestmark = pytest.mark.full

SECONDS = 15


@pytest.mark.parametrize(
    "line", [b"\n", b" \n", b"{}\n", b'{"text":""}\n', b"x"], ids=["blank", "spaces", "empty", "text", "no end"]
)
def test_a_log_of_many_lines_costs_little(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / "1.reply.jsonl"
    path.write_bytes(line * (33_000_000 // len(line)))
    start = time.monotonic()
    try:
        ReplyFile(path).read()
    except UserError as error:
        assert "\n" not in str(error) and str(path) in str(error)
    else:
        assert line in (b"\n", b"x")
    assert time.monotonic() - start < SECONDS


def test_blank_lines_of_a_log_are_none(tmp_path: Path) -> None:
    path = tmp_path / "1.reply.jsonl"
    path.write_bytes(b'\n\n{"begin": {"max_output_tokens": 9}}\n\n{"text": "a"}\n\n{"text": "b')
    found = ReplyFile(path).read()
    assert (found.attempts, found.unfinished, found.text) == ((), 9, "a")
