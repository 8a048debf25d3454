"""Random hostile mutations of honest projects: 2,000 with --soak, a few of these otherwise, others for each commit."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from convex_evals.grading.sandbox.base import Level
from convex_evals.records import Outcome, StepName, Verdict
from convex_evals.suite.suite import load_suite
from tests import patience, tier
from tests.attacks.bench import NORMAL, SUITE, open_bench
from tests.attacks.fuzz.fuzzing import Report, fuzz
from tests.attacks.fuzz.mutate import mutated
from tests.attacks.projects import ATTACKS
from tests.conftest import ROOT, clean_environment
from tests.end_to_end.test_attacks import missing

SEED, FEW, MANY = 1, 10, 2_000
EVALS = {ev.id: ev for ev in load_suite(SUITE).evals}


@pytest.mark.full
@pytest.mark.grading
def test_no_mutation_gets_away_or_reaches_a_neighbour(toolchain: Path, soak: bool) -> None:
    level = Level.LANDLOCK if missing(Level.STRICT) else Level.STRICT
    if reason := missing(level):
        pytest.skip(reason)
    report = Report(SEED)
    numbers = range(MANY) if soak else sorted(random.Random(tier.seed()).sample(range(MANY), FEW))

    async def run(folder: Path) -> list[str]:
        async with open_bench(level, folder, toolchain, NORMAL) as bench:
            await bench.settle(ATTACKS[:1])
            await fuzz(bench, report, numbers, lambda _: None)
            bench.left += await bench.at_the_end()
        return bench.left

    with tempfile.TemporaryDirectory(prefix="fuzz-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        left = asyncio.run(run(Path(name)))
    assert (report.findings, left) == ([], [])
    assert report.graded == len(numbers)
    assert report.neighbours >= 4


def verdict(outcome: Outcome) -> Verdict:
    caught = None if outcome is Outcome.PASSED else StepName.TSC
    return Verdict(outcome=outcome, caught_by=caught, score=0, steps=(), tests=())


def test_what_may_come_of_a_mutated_project() -> None:
    projects = [mutated(EVALS, SEED, index) for index in range(200)]
    unscored, passed, failed = (verdict(outcome) for outcome in (Outcome.UNSCORED, Outcome.PASSED, Outcome.FAILED))
    for project in projects:
        assert project.problem(unscored) == "got away unscored"
        assert (project.problem(passed) is None) is project.base.is_right
        assert (project.problem(failed) is None) is not project.must_pass
    assert {(p.base.is_right, p.must_pass) for p in projects} == {(True, True), (True, False), (False, False)}


@pytest.mark.full
def test_a_seed_gives_the_same_projects_and_all_mutations() -> None:
    projects = [mutated(EVALS, SEED, index) for index in range(400)]
    assert [p.files for p in projects] == [mutated(EVALS, SEED, index).files for index in range(400)]
    assert projects[0].files != mutated(EVALS, SEED + 1, 0).files
    assert len({name for p in projects for name in p.applied}) == 12
    assert len({p.base.name for p in projects}) == 7


@pytest.mark.parametrize(("words", "status"), [(["--show", "--only", "3,5"], 0), (["--only", "3,x"], 1)])
def test_the_script_shows_projects(words: list[str], status: int) -> None:
    argv = [sys.executable, "scripts/fuzz_projects.py", *words]
    env = clean_environment(PYTHONPATH=str(ROOT))
    done = subprocess.run(
        argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=patience.seconds(60), check=False
    )
    assert done.returncode == status, done.stderr
    if status:
        assert done.stderr == "error: --only 3,x: not numbers with commas between them\n"
    else:
        shown, _ = json.JSONDecoder().raw_decode(done.stdout)
        assert shown == {"name": mutated(EVALS, 1, 3).name, "files": dict(mutated(EVALS, 1, 3).files)}
