from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.revisions import Measured, differences
from tests import patience
from tests.conftest import ROOT, clean_environment

pytestmark = pytest.mark.full


def test_the_tester_can_be_kept_apart_from_the_backend() -> None:
    if not (shutil.which("bwrap") and shutil.which("nsenter")):
        pytest.skip("needs bubblewrap and nsenter")
    probe = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("needs namespaces: `bwrap --unshare-all` does not work here")
    argv = [sys.executable, "bench/isolation.py", "--launches", "2"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(60), check=False
    )
    assert done.returncode == 0, done.stderr
    assert "holds: reaches the backend's port; sees neither its files nor its processes" in done.stdout


@pytest.mark.grading
def test_the_backend_can_be_measured(toolchain: Path) -> None:
    argv = [sys.executable, "bench/backend.py", "--runs", "1", "--json"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(60), check=False
    )
    report = json.loads(done.stdout)
    # A busy machine may miss a target; that the exit code says so is what counts here.
    assert done.returncode == (0 if all(report["met"].values()) else 1), done.stderr
    assert report["median"].keys() == {"ready_s", "idle_mib", "deploy_s", "deployed_mib"}
    assert 0 < report["median"]["ready_s"] < 20
    assert 20 < report["median"]["idle_mib"] <= report["median"]["deployed_mib"] + 20


@pytest.mark.grading
def test_published_components_deploy_and_answer_as_documented(toolchain: Path) -> None:
    argv = [sys.executable, "scripts/try_components.py", "--json"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(600), check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert json.loads(done.stdout) == json.loads((ROOT / "docs" / "components.json").read_text())


def test_starting_and_ranking_can_be_measured() -> None:
    argv = [sys.executable, "bench/startup.py", "--runs", "41", "--times", "1", "--json"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(120), check=False
    )
    report = json.loads(done.stdout)
    # A busy machine may miss a target; that the exit code says so is what counts here.
    assert done.returncode == (0 if all(report["met"].values()) else 1), done.stderr
    # The 41st run is the second of its model under its experiment.
    assert (report["runs"], report["trials"], report["ranked"]) == (41, 4_510, 40)
    assert min(report["prices_s"], report["litellm_s"]) > 0


@pytest.mark.grading
def test_what_containment_costs_can_be_measured(toolchain: Path) -> None:
    argv = [sys.executable, "bench/sandbox.py", "--filter", "function_kinds", "--rounds", "1", "--json"]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(120), check=False
    )
    if "--sandbox strict: " in done.stderr:
        pytest.skip(f"no strict sandbox here: {done.stderr.strip().splitlines()[-1]}")
    report = json.loads(done.stdout)
    assert report["throughput"] == pytest.approx(report["none_s"] / report["strict_s"])
    assert set(report["times_s"]) == {"none", "strict"}


@pytest.mark.parametrize("script", ["checker", "pipeline", "sandbox", "same_verdicts --kept none"])
@pytest.mark.parametrize("pattern", ["(", "no such eval"])
def test_a_bad_filter_is_one_line(script: str, pattern: str) -> None:
    name, *more = script.split()
    argv = [sys.executable, f"bench/{name}.py", *more, "--filter", pattern]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(60), check=False
    )
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert done.stderr.startswith("error: -f '(': not a regular" if pattern == "(" else "error: no eval matches")


def run_revisions(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "bench/revisions.py", *words]
    env = clean_environment(PYTHONPATH=str(ROOT))
    return subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(300), check=False
    )


def test_a_revision_that_is_not_there_is_one_line() -> None:
    done = run_revisions("no-such-revision")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1), done.stderr
    assert done.stderr.startswith("error: no-such-revision: ")


@pytest.mark.grading
def test_revisions_are_compared(toolchain: Path, soak: bool) -> None:
    if not soak:
        pytest.skip("takes a minute: with --soak")
    done = run_revisions("HEAD", "--filter", "000-crons", "--rounds", "1", "--json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["different"], len(report["wall_ratios"])) == (0, [], 1)
    assert report["projects"] > 10


def test_a_verdict_that_differs_is_named() -> None:
    base = Measured(1.0, 1.0, {"a answer": ("passed", None), "b answer": ("passed", None)}, {})
    new = Measured(1.0, 1.0, {"a answer": ("failed", "tsc"), "b answer": ("passed", None)}, {"a answer": "TS2345"})
    assert differences(new, base) == ["a answer: ('passed', None) at BASE, ('failed', 'tsc') here: 'TS2345'"]
