"""Reading runs changes nothing, and needs no right to write."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Invoke
from tests.factories import make_git_repo
from tests.store.hostile import READS, refused, run_command, run_folder, tree

pytestmark = pytest.mark.full


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_reading_changes_nothing(cache: str, suite: Path, invoke: Invoke) -> None:
    make_git_repo(suite)
    guidelines = suite / "guidelines"
    guidelines.mkdir()
    (guidelines / "convex.md").write_text("# Rules\n\n- Be kind.\n")
    assert invoke("report", "default-after", "--index", cwd=suite).status == 0
    if cache == "cold":
        shutil.rmtree(suite / ".cache")
    before = tree(suite)
    more = (
        ("list", "evals"),
        ("models", "list"),
        ("models", "check"),
        ("diff-guidelines", "HEAD"),
        ("guidelines", "coverage"),
        ("run", "-m", "reference", "--dry-run"),
        ("run", "-m", "demo", "--dry-run", "--json"),
        ("doctor",),
        ("--help",),
    )
    for words in (*READS, *more):
        result = invoke(*words, cwd=suite)
        assert "bug in" not in result.err, (words, result)
        changed = {k for k in {*before, *tree(suite)} if before.get(k) != tree(suite).get(k)}
        assert not changed, (words, changed)


def without_rights() -> None:
    """Root may write where nobody may; a process without that capability may not. No-op for everybody else."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2, 3):  # DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_a_folder_that_cannot_be_written_can_be_read(suite: Path) -> None:
    folders = [suite, *(p for p in suite.rglob("*") if p.is_dir())]
    for path in suite.rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    suite.chmod(0o555)
    try:
        probe = [sys.executable, "-c", f"open({str(suite / 'x')!r}, 'w')"]
        assert subprocess.run(probe, preexec_fn=without_rights, capture_output=True).returncode != 0
        for words in READS:
            result = run_command(suite, *words, preexec_fn=without_rights)
            assert result.returncode == 0, (words, result)
    finally:
        for path in folders:
            path.chmod(0o755)


def test_a_folder_of_many_entries_is_refused(suite: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    import convex_evals.inputs.confined as confined

    monkeypatch.setattr(confined.entries, "__defaults__", (50,))
    for n in range(60):
        (suite / "runs" / "acme" / f"m{n}").mkdir()
    refused(invoke("list", cwd=suite))


def test_a_run_may_be_named_by_its_folder_and_the_runs_folder_be_a_link(
    suite: Path, tmp_path: Path, invoke: Invoke
) -> None:
    """What the user chose is no trap."""
    assert invoke("show", str(run_folder(suite)), cwd=suite).status == 0
    assert invoke("show", "runs/acme/model-1/2026-02-01/default-after", cwd=suite).status == 0
    linked = tmp_path / "linked"
    linked.symlink_to(suite / "runs")
    assert invoke("list", "--runs-dir", str(linked), cwd=suite).status == 0
    assert invoke("show", "default-after", "answer", "--runs-dir", str(linked), cwd=suite).status == 0
