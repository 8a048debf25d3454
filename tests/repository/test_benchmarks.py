"""Each benchmark in its smallest form: does it still give a figure?

How large the figure is says nothing here: a busy machine may miss a target, which is told by the exit code 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import patience, tier
from tests.conftest import ROOT, clean_environment

pytestmark = [pytest.mark.full, pytest.mark.grading]

ONE = ("--filter", "function_kinds")
SMALLEST: dict[str, tuple[str, ...]] = {
    "bounds": ("--filter", "deep"),
    "checker": ("--filter", "function_kinds|index_range", "--rounds", "1"),
    "due": ("--models", "100"),
    "endurance": ("--projects", "5", *ONE),
    "leaderboard_calls": ("--calls", "20"),
    "leaderboard_app": ("--models", "10", "--runs", "1", "--evals", "5"),
    "neighbours": ("--attacks", "^home-program$", "--rounds", "1"),
    "pages": ("--runs", "5", "--evals", "3", "--trials", "1"),
    "pipeline": ("--others", "0", "--workers", "1", *ONE),
    "publish": (),
    "reading": ("--runs", "10", "--evals", "5", "--trials", "1"),
    "reports": (),
    "sessions": ("--megabytes", "4", "--sessions", "100"),
}
# These take minutes at their smallest: all projects of an eval both ways, and all of a benchmark at two revisions.
LONG = {
    "figures": ("HEAD", "--only", "startup", "--rounds", "1"),
    "same_verdicts": ("--workers", "2", "--kept", "KEPT", *ONE),
}
_SECONDS, _LONG_SECONDS = 280, 3_000
# What benchmarks share.
PARTS = {"__init__", "cold_pipeline", "fabricate", "machine"}


def test_no_benchmark_is_left_out() -> None:
    """Those that are not in the table have a test that looks at their figures."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    benchmarks = {path.stem for path in (ROOT / "bench").glob("*.py")} - PARTS
    assert {name for name in benchmarks if not any(f'"bench/{name}.py"' in text for text in texts)} == {
        *SMALLEST,
        *LONG,
    }


@pytest.mark.parametrize("name", [*SMALLEST, *(LONG if tier.is_soak else ())])
def test_a_benchmark_gives_a_figure(name: str, toolchain: Path, tmp_path: Path) -> None:
    words = [str(tmp_path / "kept.jsonl") if word == "KEPT" else word for word in (SMALLEST | LONG)[name]]
    argv = [sys.executable, f"bench/{name}.py", *words]
    environment = clean_environment(PYTHONPATH=str(ROOT))
    limit = patience.seconds(_LONG_SECONDS if name in LONG else _SECONDS)
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=limit, check=False)
    if "--sandbox strict: " in done.stderr:
        pytest.skip(f"no strict sandbox here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    assert re.search(r"\d", done.stdout), done.stderr
