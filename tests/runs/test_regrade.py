"""`cli regrade` and `cli prune`: today's graders over stored replies; raw replies dropped on request, and marked."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from convex_evals.grading.service import GradingService
from convex_evals.records import Outcome, StepName, TrialGrade, Verdict
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.runs.regrade import Regrader, Regrading, Today
from convex_evals.store.journal import Journal
from convex_evals.store.runs import RunStore
from convex_evals.store.summary import summarize
from convex_evals.suite.suite import Eval, load_suite
from tests.commands import command
from tests.conftest import Invoke
from tests.factories import (
    make_eval,
    make_generation,
    make_generation_file,
    make_git_repo,
    make_grade_file,
    make_plan,
    make_run,
    make_verdict,
    write_files,
)

GRADER = """import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
test("the word is there", () => {
  expect(readFileSync(`${process.env.MODEL_OUTPUT_DIR}/WORD.ts`, "utf8")).toContain("WORD");
});
"""
REPLY = (
    '# Files\n\n## package.json\n\n```json\n{"name": "x"}\n```\n\n## WORD.ts\n\n```ts\nexport const word = 1;\n```\n'
)
NAMES = ("000-first", "001-second")


def cli(cwd: Path, *arguments: str, status: int = 0) -> str:
    done = command(cwd, *arguments)
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Two evals with recorded replies, committed."""
    for name in NAMES:
        files = {"eval.yaml": "pipeline: static\n", "grader.test.ts": GRADER.replace('WORD"', 'word"')}
        make_eval(tmp_path, f"000-words/{name}", {**files, "TASK.txt": f"{name}\n"})
        write_files(tmp_path / "replies", {f"000-words/{name}/1.md": REPLY})
    write_files(tmp_path, {".gitignore": "runs/\n.cache/\n"})
    return make_git_repo(tmp_path)


def regrade(suite: Path, *arguments: str, status: int = 0) -> dict[str, Any]:
    (found,) = json.loads(cli(suite, "regrade", "last", "--json", *arguments, status=status))
    assert isinstance(found, dict)
    return found


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.usefixtures("toolchain")
def test_an_edited_grader_judges_stored_replies(suite: Path) -> None:
    (run,) = json.loads(cli(suite, "run", "-m", "replay:replies", "--json"))
    folder = Path(run["folder"])
    assert run["summary"]["counts"]["passed"] == 2
    before = files_of(folder)

    found = regrade(suite)
    assert (found["graded"], found["changed"]) == (0, []) and files_of(folder) == before

    write_files(suite, {f"evals/000-words/{NAMES[0]}/grader.test.ts": GRADER.replace('WORD"', 'sword"')})
    first = regrade(suite, "--since", "HEAD", "--fail-on-change", status=4)
    assert first["graded"] == 1 and [c["why"] for c in first["changed"]] == [["grader"]]
    after = files_of(folder)
    added = after.keys() - before.keys()
    assert len(added) == 1 and next(iter(added)).startswith(f"evals/000-words/{NAMES[0]}/grade.")
    assert {n for n in before if after[n] != before[n]} == {"summary.json"}
    summary = json.loads(after["summary.json"])
    assert summary["counts"] == {"passed": 1, "failed": 1, "unscored": 0}
    assert summary["evals"][f"000-words/{NAMES[0]}"]["grade"] == Path(next(iter(added))).name
    assert json.loads(cli(suite, "show", "last", NAMES[0], "--json"))["trials"][0]["verdict"]["outcome"] == "failed"
    assert regrade(suite)["graded"] == 0 and files_of(folder) == after

    write_files(suite, {f"evals/000-words/{NAMES[0]}/grader.test.ts": GRADER.replace('WORD"', 'word"')})
    back = regrade(suite)
    assert back["graded"] == 0, "that key's grade file is there"
    assert back["changed"] == [
        {
            "eval": f"000-words/{NAMES[0]}",
            "trial": 1,
            "before": {"outcome": "failed", "caught_by": "tests"},
            "after": {"outcome": "passed", "caught_by": None},
            "why": ["the inputs are as planned, unlike at the last grading"],
        }
    ]
    assert files_of(folder).keys() == after.keys() and files_of(folder)["summary.json"] == before["summary.json"]

    write_files(suite, {f"evals/000-words/{NAMES[1]}/TASK.txt": "Another task.\n"})
    left = regrade(suite)
    assert left["graded"] == 0 and "the reply answers another task" in left["left_out"][f"000-words/{NAMES[1]}"]
    assert "no such revision" in command(suite, "regrade", "last", "--since", "nowhere").stderr

    cli(suite, "prune", "--keep", "0", "--yes")
    pruned = regrade(suite, "--edited-tasks")
    assert pruned["left_out"] == {f"000-words/{NAMES[1]}": "responses were pruned"}
    assert json.loads((folder / "summary.json").read_text()) == json.loads(before["summary.json"])


def test_pruning_is_asked_for_and_marked(invoke: Invoke, tmp_path: Path) -> None:
    make_eval(tmp_path)
    store = RunStore(tmp_path / "runs")
    for i in range(1, 4):
        run = store.create(make_plan(run_id=f"default-{i}", date=f"2026-01-0{i}"))
        run.write_eval(make_generation_file(), {1: "# Files\n"}, make_grade_file())
        run.write_summary(summarize(run))
    store.create(make_plan(run_id="default-0", date="2026-01-01"))  # not complete
    assert invoke("prune").status == 2 and invoke("prune", "--older-than", "1000000").status == 2
    before = files_of(tmp_path / "runs")
    assert "default-2" in invoke("prune", "--keep", "1").out and files_of(tmp_path / "runs") == before
    assert invoke("prune", "--older-than", "10000").out == "Nothing to prune.\n"

    done = json.loads(invoke("prune", "--keep", "1", "--yes", "--json").out)
    assert [(d["run_id"], d["replies"], d["pruned"]) for d in done] == [("default-2", 1, True), ("default-1", 1, True)]
    after = files_of(tmp_path / "runs")
    gone, new = before.keys() - after.keys(), after.keys() - before.keys()
    assert len(gone) == 2 and all(name.endswith("/1.md") for name in gone)
    assert len(new) == 2 and all(name.endswith("/pruned.json") for name in new)
    assert all(after[name] == before[name] for name in after.keys() & before.keys())
    assert "it was pruned on 20" in invoke("show", "default-1", "answer").out
    folder = store.find("default-1").folder
    replayed = invoke("run", "-m", f"replay:{folder}", "--dry-run")
    assert replayed.status == 1 and "its responses were pruned" in replayed.err
    assert invoke("prune", "--keep", "1").out == "Nothing to prune.\n"


def test_a_run_that_is_finished_in_part_counts_what_is_graded_again(tmp_path: Path) -> None:
    make_eval(tmp_path)
    ev = load_suite(tmp_path).evals[0]
    run = make_run(tmp_path / "runs", {ev.id: "p", "001-more/000-later": ""})
    now = replace(GradingInputs.recorded(run.plan, ev.id), grader_sha256="8" * 64)
    today = Today({ev.id: ev}, {ev.id: now}, {ev.id: frozenset()})

    class Stub:
        tester = SimpleNamespace(sandbox=SimpleNamespace(level="none"))

        async def grade(self, ev: Eval, files: object) -> Verdict:
            return make_verdict(Outcome.FAILED, StepName.TESTS)

    regrader = Regrader(cast(GradingService, Stub()), today, lambda *_: None)
    asyncio.run(regrader.regrade(run, Journal(tmp_path / "journal", run.plan, purpose=".regrade")))
    summary = run.summary()
    assert summary is not None and (summary.counts.passed, summary.counts.failed) == (0, 1) and summary.missing


def test_an_interrupted_regrading_goes_on(tmp_path: Path) -> None:
    """What was judged is in the journal: only the rest is graded, and the file is added then."""
    make_eval(tmp_path)
    ev = load_suite(tmp_path).evals[0]
    plan = make_plan(trials=2)
    run = RunStore(tmp_path / "runs").create(plan)
    replies = tuple(make_generation(n) for n in (1, 2))
    grades = tuple(TrialGrade(trial=n, generation_id=f"{n:016}", verdict=make_verdict()) for n in (1, 2))
    run.write_eval(
        make_generation_file().model_copy(update={"trials": replies}),
        {1: "one", 2: "two"},
        make_grade_file().model_copy(update={"trials": grades}),
    )
    run.write_summary(summarize(run))
    now = replace(GradingInputs.recorded(plan, ev.id), grader_sha256="8" * 64)
    today = Today({ev.id: ev}, {ev.id: now}, {ev.id: frozenset()})
    graded: list[str] = []

    class Stub:
        tester = SimpleNamespace(sandbox=SimpleNamespace(level="none"))
        stops = True

        async def grade(self, ev: Eval, files: object) -> Verdict:
            graded.append(ev.id)
            number = len(graded)
            await asyncio.sleep(0.05 * number)
            if self.stops and number == 2:
                raise KeyboardInterrupt
            return make_verdict(Outcome.FAILED, StepName.TESTS)

    stub = Stub()
    journal = Journal(tmp_path / "journal", plan, purpose=".regrade")

    def regrade_once() -> Regrading:
        regrader = Regrader(cast(GradingService, stub), today, lambda *_: None)
        return asyncio.run(regrader.regrade(run, journal))

    with pytest.raises((KeyboardInterrupt, BaseExceptionGroup)):
        regrade_once()
    assert len(graded) == 2 and not run.has_grade(ev.id, now.key())
    stub.stops = False
    found = regrade_once()
    assert len(graded) == 3 and run.has_grade(ev.id, now.key()) and not journal.folder.exists()
    assert [(c.trial, c.why) for c in found.changes] == [(1, ("grader",)), (2, ("grader",))]
    summary = run.summary()
    assert summary is not None and summary.counts.failed == 2
