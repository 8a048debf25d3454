"""How fast the command line starts, and how fast it ranks a long history.

    python scripts/bench_startup.py [--runs N] [--times N] [--json]

Times `cli --help`, and has Python list what it imported: litellm must not be there. Then makes N runs of 110 evals by
20 models under two experiments in a temporary folder (500 runs: 55,000 trials, all their files), and times
`cli leaderboard` over them. Both are whole processes; the median counts. Exit code 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path

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
    Summary,
    Toolchain,
    TrialGrade,
    Usage,
    Verdict,
)
from convex_evals.store.paths import slug_folders
from convex_evals.store.runs import GENERATION_NAME, PLAN_NAME, SUMMARY_NAME, Run, grade_name
from convex_evals.summary import summarize

ROOT = Path(__file__).parents[1]
TARGETS = {"help_s": 0.2, "leaderboard_s": 1.0}
MODELS, EVALS = 20, 110
EXPERIMENTS = ("default", "no_guidelines")
REPLY = "# Files\n\n## convex/main.ts\n\n```ts\nexport const answer = 42;\n```\n"


@dataclass(frozen=True)
class Figures:
    help_s: float  # `cli --help`, whole process
    leaderboard_s: float  # `cli leaderboard`, whole process
    runs: int
    trials: int
    ranked: int  # standings that the leaderboard printed


def fabricate(suite: Path, runs: int) -> int:
    """Write `runs` runs, as their runs would have, into `suite`; the number of their trials."""
    ids = [f"{n // 10:03}-category/{n % 10:03}-eval" for n in range(EVALS)]
    (suite / "evals").mkdir()
    files = {(e, o): trial_files(e, o) for e in ids for o in (Outcome.PASSED, Outcome.FAILED)}
    summaries: dict[int, Summary] = {}  # by the pattern of passes, which repeats every ten runs
    for n in range(runs):
        model = f"provider{n % 4}/model-{n % MODELS:02}"
        experiment = EXPERIMENTS[n // MODELS % len(EXPERIMENTS)]
        day = (date(2026, 1, 1) + timedelta(days=n // MODELS)).isoformat()
        plan = make_plan(f"{experiment}-{n:08x}", day, model, experiment, ids)
        run = Run(suite.joinpath("runs", *slug_folders(model), day, plan.run_id), plan)
        for i, eval_id in enumerate(ids):
            outcome = Outcome.PASSED if (i * 7 + n) % 10 < 4 + n % 5 else Outcome.FAILED
            write_all(run.eval_folder(eval_id), files[eval_id, outcome])
        if n % 10 not in summaries:
            summaries[n % 10] = summarize(run)
        own = {"run_id": plan.run_id, "model": model, "experiment": experiment, "date": day}
        summary = summaries[n % 10].model_copy(update=own)
        write_all(run.folder, {PLAN_NAME: plan.to_json(), SUMMARY_NAME: summary.to_json()})
    return runs * EVALS


def make_plan(run_id: str, day: str, model: str, experiment: str, ids: list[str]) -> RunPlan:
    planned = EvalPlan(
        task_sha256="0" * 64,
        answer_sha256="1" * 64,
        grader_sha256="2" * 64,
        pipeline=Pipeline.FULL,
        generation_key="3" * 64,
        grading_key="4" * 64,
    )
    return RunPlan(
        run_id=run_id,
        date=day,
        model=model,
        experiment=experiment,
        trials=1,
        synthetic=False,
        guidelines=None,
        guidelines_sha256=None,
        suite_commit=None,
        grading_protocol=1,
        backend=BackendIdentity(kind="embedded", version="1"),
        toolchain=Toolchain(
            node="24.0.0",
            typescript="5.9.3",
            eslint="10.0.0",
            vitest="3.2.0",
            convex="1.48.0",
            lockfile_sha256="5" * 64,
            lint_rules_sha256="6" * 64,
        ),
        evals=dict.fromkeys(ids, planned),
    )


def trial_files(eval_id: str, outcome: Outcome) -> dict[str, str]:
    """The three files of an eval with one trial, by name."""
    generation = Generation(
        trial=1,
        generation_id="7" * 16,
        received=True,
        response_sha256="8" * 64,
        cost_usd=0.01,
        duration_ms=9_000,
        usage=Usage(input_tokens=4_000, output_tokens=900),
    )
    caught_by = None if outcome is Outcome.PASSED else StepName.TESTS
    steps = tuple(
        StepResult(step=s, outcome=StepOutcome.FAILED if s is caught_by else StepOutcome.PASSED, duration_ms=100)
        for s in StepName
    )
    verdict = Verdict(outcome=outcome, caught_by=caught_by, score=float(caught_by is None), steps=steps)
    grade = TrialGrade(trial=1, generation_id=generation.generation_id, verdict=verdict)
    generations = GenerationFile(eval=eval_id, generation_key="3" * 64, trials=(generation,))
    grades = GradeFile(eval=eval_id, grading_key="4" * 64, sandbox="none", trials=(grade,))
    return {
        "1.md": REPLY,
        GENERATION_NAME: generations.to_json(),
        grade_name(grades.grading_key): grades.to_json(),
    }


def write_all(folder: Path, files: dict[str, str]) -> None:
    """Plainly: 165,000 files that are synced to the disk one by one take minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def timed(folder: Path, times: int, *arguments: str) -> tuple[float, str]:
    """Median seconds of the command, and what it printed last."""
    seconds, out = [], ""
    for _ in range(times):
        start = time.perf_counter()
        out = cli(folder, *arguments).stdout
        seconds.append(time.perf_counter() - start)
    return round(statistics.median(seconds), 4), out


def cli(folder: Path, *arguments: str, flags: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, *flags, str(ROOT / "cli.py"), *arguments]
    return subprocess.run(argv, cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=True)


def imported(folder: Path) -> set[str]:
    """The modules that `cli --help` imports, as Python itself lists them."""
    listed = cli(folder, "--help", flags=("-X", "importtime")).stderr
    return {line.rpartition("|")[2].strip() for line in listed.splitlines() if line.startswith("import time:")}


def measure(runs: int, times: int) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        suite = Path(name)
        modules = imported(suite)
        assert "convex_evals.app" in modules
        assert "litellm" not in modules, "`cli --help` imports litellm"
        help_s, _ = timed(suite, times, "--help")
        trials = fabricate(suite, runs)
        leaderboard_s, out = timed(suite, times, "leaderboard", "--json")
        return Figures(help_s, leaderboard_s, runs, trials, len(json.loads(out)["standings"]))


def render(figures: Figures, met: dict[str, bool]) -> str:
    labels = {
        "help_s": "cli --help, without litellm",
        "leaderboard_s": f"cli leaderboard, {figures.runs} runs, {figures.trials:,} trials",
    }
    return "\n".join(
        f"{label:46} {getattr(figures, name):6.3f} s   target: at most {TARGETS[name]:g} s: "
        f"{'met' if met[name] else 'MISSED'}"
        for name, label in labels.items()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=500, help="how many runs are made up; at least 1")
    parser.add_argument("--times", type=int, default=5, help="how often each command is timed; at least 1")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if options.runs < 1 or options.times < 1:
        parser.error("--runs and --times must be at least 1")
    figures = measure(options.runs, options.times)
    met = {name: getattr(figures, name) <= most for name, most in TARGETS.items()}
    report = {**asdict(figures), "targets": TARGETS, "met": met}
    print(json.dumps(report, indent=2) if options.json else render(figures, met))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
