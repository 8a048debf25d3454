"""The results that come with the repository: what a fresh clone shows without a key, and whether that still holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from convex_evals.models.reference import SLUG
from convex_evals.models.replay import DEMO_SLUG, open_demo
from convex_evals.records import GradeFile, StepName
from convex_evals.store.benchmarks import BenchmarkFolder
from convex_evals.store.records import read_record
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.id_filter import pattern_of
from scripts.sample_runs import AFTER, BEFORE, REFERENCE, lay_out
from scripts.samples import sample as printed
from tests.conftest import ROOT, Invoke, clean_environment
from tests.end_to_end.repositories import git
from tests.end_to_end.test_demo import OUTCOMES

# Those that the two runs differ in, and one that has no files; --soak grades all.
QUICK = [
    "000-fundamentals/000-crons",
    "004-actions/001-fetch",
    "005-idioms/000-authorization",
    "005-idioms/003-convex_test",
]


def sample(run_id: str) -> Run:
    return RunStore(ROOT / "runs").find(run_id)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is committed, without the caches of a working tree."""
    folder = tmp_path_factory.mktemp("fresh") / "clone"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True)
    return folder


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("list",), [f"{DEMO_SLUG} (synthetic)", f"{SLUG} (synthetic)", AFTER]),
        (("show", AFTER), ["005-idioms/000-authorization", "tests: ", "67%"]),
        (("leaderboard",), ["No run to rank", "no model was asked, and none is ranked", DEMO_SLUG]),
        (("compare", BEFORE, AFTER), ["A is synthetic", "Better: 2", "Worse: 1", "guidelines"]),
        (("report", AFTER, "--stdout"), ["## Failures", "synthetic: no model was asked"]),
        (("benchmark", "list"), ["v1"]),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_fresh_clone_shows_results(
    command: tuple[str, ...], shown: list[str], clone: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = invoke(*command, cwd=clone)
    assert result.status == 0 and result.err == "", result
    assert [text for text in shown if text not in result.out] == [], result.out


def test_two_versions_of_the_guidelines_are_compared(clone: Path, invoke: Invoke) -> None:
    before, after = ((sample(name).plan.guidelines or "").partition("@")[2] for name in (BEFORE, AFTER))
    if git(clone, "rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("this clone has not the history that the README's example compares")
    result = invoke("diff-guidelines", before, after, cwd=clone)
    assert result.status == 0 and DEMO_SLUG in result.out and "no model was asked" in result.out, result
    assert f"-m {DEMO_SLUG}" not in result.out, "nothing is found out by asking recorded replies again"
    shown = printed(f"diff-guidelines {before} {after}", 7)
    assert shown in (ROOT / "README.md").read_text(encoding="utf-8"), shown


def test_they_are_the_replies_that_the_package_brings(tmp_path: Path) -> None:
    for run_id, take in zip((BEFORE, AFTER), lay_out(tmp_path), strict=True):
        run = sample(run_id)
        assert run.plan.synthetic and run.plan.model == DEMO_SLUG and run.is_complete
        assert set(run.plan.evals) == {path.parent.relative_to(take).as_posix() for path in take.glob("*/*/*.md")}
        for eval_id in run.plan.evals:
            assert run.response(eval_id, 1) == (take / eval_id / "1.md").read_text(encoding="utf-8"), (
                "python scripts/sample_runs.py makes them again"
            )
            (trial,) = run.grade(eval_id).trials
            known = sorted(path.name[0] for path in (open_demo().folder / eval_id).glob("*.md"))
            assert trial.verdict.caught_by == OUTCOMES[f"{eval_id}/{known[0 if run_id == BEFORE else -1]}"]


def test_the_reference_answers_pass() -> None:
    run = sample(REFERENCE)
    summary = run.summary()
    assert run.plan.synthetic and summary and summary.counts.passed == len(run.plan.evals) == run.plan.suite_evals


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
@pytest.mark.parametrize("run_id", [BEFORE, AFTER])
def test_graded_again_they_come_to_the_same(run_id: str, tmp_path: Path, soak: bool) -> None:
    run = sample(run_id)
    evals = [e for e in run.plan.evals if soak or e in QUICK]
    argv = [sys.executable, str(ROOT / "cli.py"), "-C", str(ROOT), "run", "-m", f"replay:{run.folder}", "--json"]
    argv += ["-f", pattern_of(evals)]
    done = subprocess.run(argv, cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=True)
    (found,) = json.loads(done.stdout)
    again: dict[str, StepName | None] = {}
    for path in Path(found["folder"]).glob("evals/*/*/grade.*.json"):
        grade = read_record(path, GradeFile)
        again[grade.eval] = grade.trials[0].verdict.caught_by
    assert again == {e: run.grade(e).trials[0].verdict.caught_by for e in evals}


def test_the_report_has_its_human_part() -> None:
    (report,) = (ROOT / "reports").glob(f"{DEMO_SLUG}/{AFTER}_*.md")
    text = report.read_text(encoding="utf-8")
    assert "to be decided by a person" not in text.partition("## Failures")[0]


def test_the_benchmark_is_of_this_suite() -> None:
    """It may be older than the newest edit of an eval, but it is one of ours."""
    (head,) = [each for each in BenchmarkFolder(ROOT).heads() if each.name == "v1"]
    assert {"default", "no_guidelines"} <= set(head.experiments)
