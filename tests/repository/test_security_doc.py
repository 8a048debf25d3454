"""The table of docs/security.md, who may do what to whom: each line names tests that exist."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT, clean_environment

ACTORS = (
    *("model code", "its page, its tests, programs", "grader", "suite author (`-C`)", "pull request author"),
    *("record author", "provider", "deployment", "package author, registry"),
    *("web page in a browser of this machine", "other user of the machine"),
)


def rows() -> list[list[str]]:
    """Who, to whom, what holds, held by."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    section = text.partition("## Who may do what to whom\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def named(cell: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py::[^`]+)`", cell)


@pytest.fixture(scope="module")
def collected() -> set[str]:
    """Ids of all tests in the files that the table names, without what pytest calls parameters, and with it."""
    files = sorted({f"tests/{test.partition('::')[0]}" for row in rows() for test in named(row[-1])})
    argv = [sys.executable, "-m", "pytest", "--collect-only", "--soak", "-p", "no:cacheprovider", *files]
    done = subprocess.run(argv, cwd=ROOT, env=clean_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    ids = {line.removeprefix("tests/").partition("@")[0] for line in done.stdout.splitlines() if "::" in line}
    return ids | {test.partition("[")[0] for test in ids}


@pytest.mark.full
def test_every_line_is_held_by_tests_that_exist(collected: set[str]) -> None:
    for who, whom, what, held_by in rows():
        assert who and whom and what and named(held_by), (who, whom)
    assert [test for row in rows() for test in named(row[-1]) if test not in collected] == []


def test_everybody_who_could_be_hostile_is_in_it() -> None:
    assert tuple(dict.fromkeys(row[0] for row in rows())) == ACTORS


def test_a_test_that_is_not_there_would_be_noticed(collected: set[str]) -> None:
    assert "end_to_end/test_attacks.py::test_attack[strict-home-program]" in collected
    assert "end_to_end/test_attacks.py::test_attack[strict-no-such-attack]" not in collected
    assert named("`test_a.py::test_b`, `test_c.py::test_d[e-f]`") == ["test_a.py::test_b", "test_c.py::test_d[e-f]"]
