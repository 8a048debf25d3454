"""Things that tests are made of."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from convex_evals.guidelines.confirmed import to_record
from convex_evals.records import (
    BackendIdentity,
    EvalPlan,
    Generation,
    GenerationFile,
    GradeFile,
    Outcome,
    Pipeline,
    RunPlan,
    StepName,
    StepOutcome,
    StepResult,
    TestResult,
    ToolVersions,
    TrialGrade,
    Usage,
    Verdict,
)
from convex_evals.records.grading_inputs import grade_name
from convex_evals.records.hashes import sha256_text
from convex_evals.records.validation import ValidationRecord
from convex_evals.runs.plan import Asked
from convex_evals.stats import EvalPair, confirm
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.store.summary import summarize

EVAL = "000-fundamentals/000-answer"
GENERATION_KEY, GRADING_KEY = "5" * 64, "6" * 64
PACKAGE_JSON = json.dumps({"name": "project", "dependencies": {"convex": "1.48.0"}})
QUERY = """import { query } from "./_generated/server";
export const answer = query({ args: {}, handler: async () => 42 });
"""
GRADER = """import { ConvexHttpClient } from "convex/browser";
import { expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
test("answers", async () => {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`);
  expect(await client.query(api.main.answer, {})).toBe(42);
});
"""
GENERATED_API = """import { anyApi } from "convex/server";
export const api = anyApi;
export const internal = anyApi;
"""


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def edit_json(path: Path, **changes: object) -> None:
    """Replace keys of the object in a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def make_eval(root: Path, eval_id: str = EVAL, files: Mapping[str, str | None] | None = None) -> Path:
    """An eval that works, with some files replaced, or left out by None."""
    whole: dict[str, str | None] = {
        "TASK.txt": "A query main:answer without arguments that returns 42.\n",
        "answer/package.json": PACKAGE_JSON,
        "answer/convex/main.ts": QUERY,
        "answer/convex/_generated/api.js": GENERATED_API,
        "grader.test.ts": GRADER,
        **(files or {}),
    }
    return write_files(root / "evals" / eval_id, {path: text for path, text in whole.items() if text is not None})


def make_git_repo(folder: Path) -> Path:
    """A repository with everything in `folder` committed."""
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
        subprocess.run(["git", *identity, *command], cwd=folder, check=True)
    return folder


def make_toolchain(lockfile: str = "0" * 64, lint_rules: str = "1" * 64) -> ToolVersions:
    return ToolVersions(
        node="24.0.0",
        typescript="5.9.3",
        eslint="10.0.0",
        vitest="3.2.0",
        convex="1.48.0",
        lockfile_sha256=lockfile,
        lint_rules_sha256=lint_rules,
    )


def make_eval_plan() -> EvalPlan:
    return EvalPlan(
        task_sha256="2" * 64,
        answer_sha256="3" * 64,
        grader_sha256="4" * 64,
        pipeline=Pipeline.FULL,
        generation_key=GENERATION_KEY,
        grading_key=GRADING_KEY,
    )


def make_asked(experiment: str = "default") -> Asked:
    return Asked(experiment, None, None, None, "7" * 64)


def make_plan(**changes: object) -> RunPlan:
    plan = RunPlan(
        run_id="default-00000000",
        date="2026-01-31",
        model="reference/answers",
        experiment="default",
        trials=1,
        synthetic=True,
        guidelines_sha256=None,
        prompt_sha256=None,
        settings_sha256=make_asked().settings_sha256,
        suite_commit=None,
        grading_protocol=1,
        backend=BackendIdentity(kind="embedded", version="1"),
        toolchain=make_toolchain(),
        evals={EVAL: make_eval_plan()},
    )
    return plan.model_copy(update=changes)


def make_verdict(outcome: Outcome = Outcome.PASSED, caught_by: StepName | None = None) -> Verdict:
    steps = tuple(
        StepResult(
            step=step,
            outcome=StepOutcome(outcome.value) if step == caught_by else StepOutcome.PASSED,
            duration_ms=10,
            reason="because" if step == caught_by else None,
        )
        for step in StepName
    )
    passed = outcome is Outcome.PASSED
    tests = (TestResult(name="answers", outcome="passed" if passed else "failed", duration_ms=3),)
    return Verdict(outcome=outcome, caught_by=caught_by, score=float(passed), steps=steps, tests=tests)


def make_failure(reasons: Mapping[str, str], tests: Mapping[str, str | None] | None = None) -> Verdict:
    """A failed verdict: the reasons of the steps that failed, and each test's message, None where it passed."""
    steps: list[StepResult] = []
    stopped = False
    for step in StepName:
        outcome = StepOutcome.SKIPPED if stopped else StepOutcome.FAILED if step in reasons else StepOutcome.PASSED
        steps.append(StepResult(step=step, outcome=outcome, duration_ms=10, reason=reasons.get(step)))
        stopped = stopped or (step in reasons and step in ("filesystem", "install", "deploy"))
    done = tuple(
        TestResult(name=name, outcome="passed" if message is None else "failed", duration_ms=3, message=message)
        for name, message in (tests or {}).items()
    )
    caught_by = next(s.step for s in steps if s.outcome is StepOutcome.FAILED)
    score = sum(t.outcome == "passed" for t in done) / len(done) if done else 0.0
    return Verdict(outcome=Outcome.FAILED, caught_by=caught_by, score=score, steps=tuple(steps), tests=done)


def make_generation(trial: int = 1) -> Generation:
    return Generation(
        trial=trial, generation_id=f"{trial:016}", received=True, response_sha256="7" * 64, finish_reason="stop"
    )


def make_generation_file(eval_id: str = EVAL) -> GenerationFile:
    return GenerationFile(eval=eval_id, generation_key=GENERATION_KEY, trials=(make_generation(),))


def make_grade_file(eval_id: str = EVAL, verdict: Verdict | None = None) -> GradeFile:
    grade = TrialGrade(trial=1, generation_id=f"{1:016}", verdict=verdict or make_verdict())
    return GradeFile(eval=eval_id, grading_key=GRADING_KEY, sandbox="strict", trials=(grade,))


def make_run(
    runs: Path,
    outcomes: Mapping[str, str],
    *,
    replies: Mapping[str, str] | None = None,
    failures: Mapping[str, Verdict] | None = None,
    complete: bool = True,
    reused: Run | None = None,
    **changes: object,
) -> Run:
    """A run on disk: `outcomes` says for each eval, a letter a trial, p(assed), f(ailed) or u(nscored).

    Its replies are its own, or those of the run `reused`.
    `failures` are the verdicts of an eval's failed trials.
    """
    letters = {"p": (Outcome.PASSED, None), "f": (Outcome.FAILED, StepName.TESTS), "u": (Outcome.UNSCORED, None)}
    planned = make_eval_plan()
    trials = max(map(len, outcomes.values()))
    own = {"model": "acme/model-1", "synthetic": False, "trials": trials, "evals": dict.fromkeys(outcomes, planned)}
    run = RunStore(runs).create(make_plan(**{**own, **changes}))
    for eval_id, row in outcomes.items():
        generations = tuple(
            make_generation(n).model_copy(
                update={
                    # Of its own in each run, like those of real replies.
                    "generation_id": sha256_text(f"{(reused or run).folder.relative_to(runs)} {eval_id} {n}")[:16],
                    "reused_from": reused.plan.run_id if reused else None,
                    "received": letter != "u",
                    "response_sha256": sha256_text(_reply(replies, eval_id)) if letter != "u" else None,
                    "fault": "timeout" if letter == "u" else None,
                    "cost_usd": 0.0125,
                    "duration_ms": 4_000 * n,
                    "usage": Usage(input_tokens=1_000, output_tokens=200),
                }
            )
            for n, letter in enumerate(row, 1)
        )
        grades = tuple(
            TrialGrade(
                trial=g.trial,
                generation_id=g.generation_id,
                verdict=(letter == "f" and (failures or {}).get(eval_id)) or make_verdict(*letters[letter]),
            )
            for g, letter in zip(generations, row, strict=True)
        )
        if row:
            keys = run.plan.evals[eval_id]
            run.write_eval(
                GenerationFile(eval=eval_id, generation_key=keys.generation_key, trials=generations),
                {g.trial: _reply(replies, eval_id) for g in generations if g.received},
                GradeFile(eval=eval_id, grading_key=keys.grading_key, sandbox="strict", trials=grades),
            )
    if complete:
        run.write_summary(summarize(run))
    return run


def _reply(replies: Mapping[str, str] | None, eval_id: str) -> str:
    return (replies or {}).get(eval_id, "# Files\n")


def grade_again(run: Run, key: str, flip: bool) -> None:
    """A grading of `run` under another key, which counts from now on; with `flip`, all trials pass."""
    counting = {}
    for eval_id in run.plan.evals:
        file = run.grade(eval_id)
        trials = tuple(t.model_copy(update={"verdict": make_verdict()}) if flip else t for t in file.trials)
        run.write_grade(file.model_copy(update={"grading_key": key, "trials": trials}))
        counting[eval_id] = grade_name(key)
    run.write_summary(summarize(run, counting=counting))


def known_chances(evals: Mapping[str, int], *, better: Mapping[str, float] | None = None) -> dict[str, float]:
    """The chance of each eval to pass, known to the test: `evals` says how many a category has.

    Easy and hard ones in turn; in the categories that are `better`, so large a share of the failures becomes passes
    (negative: of the passes, failures).
    """
    ladder = (0.97, 0.9, 0.3, 0.99, 0.75, 0.1, 0.95, 0.5)
    found = {}
    for category, count in evals.items():
        gain = (better or {}).get(category, 0.0)
        for n in range(count):
            chance = ladder[n % len(ladder)]
            found[f"{category}/{n:03}-eval"] = chance + gain * (1 - chance if gain > 0 else chance)
    return found


def draw_outcomes(chances: Mapping[str, float], trials: int, seed: int) -> dict[str, str]:
    """Outcomes for `make_run` that come from known chances."""
    draw = random.Random(seed)
    return {e: "".join("p" if draw.random() < chance else "f" for _ in range(trials)) for e, chance in chances.items()}


def make_validation(screen: Sequence[EvalPair], again: Sequence[EvalPair], **changes: object) -> ValidationRecord:
    """What `cli validate-guidelines` writes of one model, of these trials."""
    side = {"guidelines": "guidelines/convex.md", "prompt_sha256": None}
    facts = {
        "model": "acme/model-1",
        "experiment": "default",
        "before": {**side, "guidelines_sha256": "8" * 64},
        "after": {**side, "guidelines_sha256": "9" * 64},
        "trials": 3,
        "rounds": 10,
        "days": ("2026-01-31",),
        "models": 1,
    }
    return to_record(confirm(screen, again), {pair.eval: pair for pair in screen}, **{**facts, **changes})
