"""A pull request may bring links in place of the folders that a command reads and writes without being told to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Invoke
from tests.factories import EVAL, make_eval, make_run, write_files

pytestmark = pytest.mark.full

COMMANDS = (
    ["list"],
    ["list", "runs"],
    ["status"],
    ["report", "last", "--json"],
    ["leaderboard"],
    ["plan", "-m", "reference"],
    ["run", "-m", "reference"],
    ["finish", "last"],
    ["prune", "--keep", "0", "--yes"],
)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Somebody else's results."""
    make_run(tmp_path / "victim" / "runs", {EVAL: "p"})
    return tmp_path / "victim"


@pytest.mark.parametrize("link", ["runs", "sub", "sub/deep", "sub/deep/runs"])
def test_no_results_are_reached_through_links(link: str, victim: Path, tmp_path: Path, invoke: Invoke) -> None:
    suite = tmp_path / "suite"
    make_eval(suite)
    runs = "runs" if link == "runs" else "sub/deep/runs"
    write_files(suite, {"convex-evals.yaml": f"runs_dir: {runs}\n"})
    (victim / "deep").symlink_to(victim)
    (suite / link).parent.mkdir(parents=True, exist_ok=True)
    (suite / link).symlink_to(victim / "runs" if link.endswith("runs") else victim)
    before = tree(victim)
    for command in COMMANDS:
        result = invoke(*command, cwd=suite)
        assert result.status == 1 and result.err.count("\n") == 1, (command, result)
        assert f"{suite / link}: is a link" in result.err and "--runs-dir" in result.err
    assert tree(victim) == before
    typed = invoke("list", "runs", "--runs-dir", suite / runs, cwd=suite)
    assert typed.status == 0 and "acme" in typed.out, typed


def test_no_results_of_a_foreign_suite_go_through_links(victim: Path, tmp_path: Path, invoke: Invoke) -> None:
    suite, mine = tmp_path / "suite", tmp_path / "mine"
    make_eval(suite)
    mine.mkdir()
    (mine / "runs").symlink_to(victim / "runs")
    result = invoke("-C", suite, "list", "runs", cwd=mine)
    assert result.status == 1 and f"{mine / 'runs'}: is a link" in result.err


@pytest.mark.parametrize("link", ["guidelines", ".github", "evals/000-fundamentals", "models.yaml", "README.md"])
def test_the_starter_is_not_written_through_links(link: str, tmp_path: Path, invoke: Invoke) -> None:
    folder, outside = tmp_path / "new", write_files(tmp_path / "outside", {"x": "precious"})
    (folder / link).parent.mkdir(parents=True, exist_ok=True)
    (folder / link).symlink_to(outside / "missing" if "." in link[1:] else outside)
    result = invoke("init", folder, cwd=tmp_path)
    assert result.status == 1 and result.err.count("\n") == 1 and "is a link" in result.err, result
    assert tree(tmp_path) == {str(outside / "x"): b"precious"}
