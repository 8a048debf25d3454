"""How fast pages are, live and as a static site, over a long history.

python bench/pages.py [--runs N] [--evals N] [--trials N] [--data DIR] [--json]
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from bench.fabricate import write_all
from convex_evals.records import (
    EvalPlan,
    Generation,
    GenerationFile,
    GradeFile,
    Outcome,
    RunPlan,
    StepName,
    TrialGrade,
    Usage,
    Verdict,
)
from convex_evals.records.grading_inputs import grade_name
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.store.paths import slug_folders
from convex_evals.store.run import GENERATION_NAME, PLAN_NAME, SUMMARY_NAME, Run
from convex_evals.store.summary import summarize
from convex_evals.suite.extract import render_response
from convex_evals.suite.prompt import guidelines_sha256
from convex_evals.suite.suite import Eval, load_suite
from scripts.command import start
from tests import factories

ROOT = Path(__file__).parents[1]
MODELS = tuple(f"provider{n % 4}/model-{n:02}" for n in range(20))
EXPERIMENTS = ("default", "no_guidelines")
_DIFFERENCE = """AssertionError: expected [ 'b', 'a' ] to deeply equal [ 'a', 'b' ]

- Expected
+ Received

  [
-   'a'
    'b'
+   'a'
  ]"""
# What a page has to show of a failure: messages as graders and compilers write them.
_MISTAKES = (
    (StepName.TSC, "convex/tasks.ts:14:22 TS2345: Argument of type '(q: any) => any' is not assignable to parameter."),
    (StepName.ESLINT, "convex/tasks.ts:9:3 @typescript-eslint/no-floating-promises: Promises must be awaited."),
    (StepName.DEPLOY, '✘ [ERROR] No matching export in "convex/_generated/server.js" for import "cronJobs"'),
    (StepName.TESTS, None),
)


def make_suite(folder: Path, count: int) -> list[Eval]:
    """A suite of `count` evals: ours, some under several names, with our guidelines."""
    own = load_suite(ROOT).evals
    for n in range(count):
        source = own[n % len(own)]
        name = source.name if n < len(own) else f"{source.name}_{n // len(own) + 1}"
        target = folder / "evals" / source.category / name
        shutil.copytree(source.path, target, ignore=shutil.ignore_patterns("_generated", "wrong", "accept"))
    shutil.copytree(ROOT / "guidelines", folder / "guidelines")
    return list(load_suite(folder).evals)


def write_run(folder: Path, evals: Sequence[Eval], number: int, trials: int, models: Sequence[str] = MODELS) -> Run:
    """One run, as `cli run` would have left it; all of it follows from `number`. The last models are the best."""
    draw = random.Random(number)
    at, experiment = number % len(models), EXPERIMENTS[number // len(models) % 2]
    model = models[at]
    skill = 0.35 + 0.3 * at / len(models) + (0.2 if experiment == "default" else 0)
    planned = {e.id: _planned(e) for e in evals}
    digest = guidelines_sha256((folder / "guidelines/convex.md").read_text()) if experiment == "default" else None
    plan = factories.make_plan(
        run_id=f"{experiment}-{number:08x}",
        date=f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}",
        model=model,
        experiment=experiment,
        trials=trials,
        synthetic=False,
        suite_commit="a" * 40,
        guidelines="guidelines/convex.md" if digest else None,
        guidelines_sha256=digest,
        evals=planned,
    )
    run = Run(folder.joinpath("runs", *slug_folders(model), plan.date, plan.run_id), plan)
    write_all(run.folder, {PLAN_NAME: plan.to_json()})
    for n, each in enumerate(evals):
        chance = min(0.98, max(0.02, skill + 0.35 * random.Random(n).uniform(-1, 1)))
        cost = round(0.004 + 0.004 * (at + 1) * random.Random(model).uniform(0.5, 2), 6)
        _write_eval(run, plan, each, [draw.random() < chance for _ in range(trials)], cost, draw)
    write_all(run.folder, {SUMMARY_NAME: summarize(run).to_json()})
    return run


@cache
def _planned(own: Eval) -> EvalPlan:
    known = {"task_sha256": sha256_text(own.task), "answer_sha256": sha256_files(_answer(own))}
    return factories.make_eval_plan().model_copy(update=known)


def _write_eval(run: Run, plan: RunPlan, own: Eval, passes: Sequence[bool], cost: float, draw: random.Random) -> None:
    keys = plan.evals[own.id]
    generations, grades, files = [], [], {}
    for n, passed in enumerate(passes, 1):
        identity = sha256_text(f"{run.folder.name} {plan.model} {own.id} {n}")[:16]
        files[f"{n}.md"] = _reply(own, passed, identity, draw)
        generations.append(
            Generation(
                trial=n,
                generation_id=identity,
                received=True,
                response_sha256=sha256_text(files[f"{n}.md"]),
                finish_reason="stop",
                cost_usd=cost,
                duration_ms=draw.randrange(3_000, 30_000),
                first_token_ms=draw.randrange(300, 2_000),
                usage=Usage(input_tokens=7_200, output_tokens=draw.randrange(400, 1_500)),
            )
        )
        grades.append(TrialGrade(trial=n, generation_id=identity, verdict=_verdict(passed, draw)))
    generation = GenerationFile(eval=own.id, generation_key=keys.generation_key, trials=tuple(generations))
    grade = GradeFile(eval=own.id, grading_key=keys.grading_key, sandbox="strict", trials=tuple(grades))
    files |= {GENERATION_NAME: generation.to_json(), grade_name(keys.grading_key): grade.to_json()}
    write_all(run.eval_folder(own.id), files)


def _reply(own: Eval, passed: bool, identity: str, draw: random.Random) -> str:
    files = dict(_answer(own))
    for path in files:
        if path.endswith(".ts"):
            lines = files[path].split("\n")
            if not passed and len(lines) > 4:
                at = draw.randrange(1, len(lines) - 1)
                lines[at : at + 2] = [f"  // TODO {identity}", *reversed(lines[at : at + 2])]
            files[path] = "\n".join(lines)
    return f"I use an index for this ({identity}).\n\n{render_response(files)}"


@cache
def _answer(own: Eval) -> dict[str, str]:
    return dict(own.answer().files)


def _verdict(passed: bool, draw: random.Random) -> Verdict:
    names = [f"does part {n} of what the task asks for, whoever calls" for n in range(1, 7)]
    if passed:
        whole = factories.make_failure({"tests": ""}, dict.fromkeys(names, None))
        steps = factories.make_verdict().steps
        return whole.model_copy(update={"outcome": Outcome.PASSED, "caught_by": None, "score": 1.0, "steps": steps})
    step, reason = draw.choice(_MISTAKES)
    if reason:
        return factories.make_failure({step.value: reason}, {} if step is StepName.DEPLOY else dict.fromkeys(names))
    message = _DIFFERENCE
    return factories.make_failure(
        {"tests": "one test failed"}, {**dict.fromkeys(names), names[draw.randrange(6)]: message}
    )


TARGETS = {"start_s": 1.0, "slowest_page_s": 0.1, "site_s": 60.0, "site_mb": 300.0, "again_s": 3.0}
_TIMES = 5
_LOOK_SECONDS = 5  # at the first page, before another is opened: pages that take long are made meanwhile


@dataclass(frozen=True)
class Figures:
    """What was measured; seconds are wall clock."""

    runs: int
    trials: int
    start_s: float  # from `cli view` until it answers
    ready_s: float  # until its first page is there, for which all runs are read; files are in the system's cache
    first_s: dict[str, float]  # by kind of page: its first request
    later_s: dict[str, float]  # the median of later requests, of other pages of the kind where there are several
    slowest_page_s: float  # of `later_s`
    site_s: float  # `cli site`, whole process
    site_mb: float  # a million bytes each, all files
    site_files: int
    again_s: float  # the same with nothing changed


def fabricate(folder: Path, runs: int, evals: int, trials: int) -> None:
    """A suite with its runs, in a repository, unless it is there."""
    done = folder / f".made-{runs}-{evals}-{trials}"
    if done.exists():
        return
    made = make_suite(folder, evals)
    git = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.org"]
    (folder / ".gitignore").write_text("runs\n.cache\n.made-*\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Begin"]):
        subprocess.run([*git, *command], cwd=folder, check=True)
    for n in range(runs):
        write_run(folder, made, n, trials)
    done.touch()


class Served:
    """`cli view` on a folder, and a connection to it."""

    def __init__(self, folder: Path) -> None:
        begun = time.perf_counter()
        command = [sys.executable, str(ROOT / "cli.py"), "view", "--port", "0", "--no-open", "--json"]
        self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        [row] = json.loads("".join(self._process.stdout.readline() for _ in range(6)))
        self.url = str(row["url"])
        self._connection = http.client.HTTPConnection("127.0.0.1", int(self.url.rsplit(":", 1)[1].strip("/")))
        self.get("assets/icon.svg")
        self.start_s = time.perf_counter() - begun
        self.get("index.html")
        self.ready_s = time.perf_counter() - begun

    def get(self, place: str) -> float:
        """Seconds until all of a page is there."""
        begun = time.perf_counter()
        self._connection.request("GET", f"/{place}")
        answer = self._connection.getresponse()
        answer.read()
        assert answer.status == 200, place
        return time.perf_counter() - begun

    def reconnect(self) -> None:
        """Open a new connection with the next request: the server closes one that is idle for seconds."""
        self._connection.close()

    def stop(self) -> None:
        self._connection.close()
        self._process.send_signal(signal.SIGINT)
        self._process.wait(20)


def kinds(folder: Path) -> dict[str, list[str]]:
    """Places by the kind of page, a few of each."""
    from convex_evals.config import open_workspace
    from convex_evals.site import urls
    from convex_evals.site.library import Library
    from convex_evals.site.routes import ROUTES

    library = Library(open_workspace(None, None, folder))
    found: dict[str, list[str]] = {}
    for route in ROUTES:
        places = list(route.every(library))[: _TIMES + 1]
        if places:
            found[places[0].partition("/")[0].removesuffix(".html")] = places
    evals = list(library.entries[0].plan.evals)[: _TIMES + 1]
    return {**found, "trials": [urls.trials(library.entries[1].plan, e) for e in evals]}


def measure_pages(folder: Path) -> tuple[float, float, dict[str, float], dict[str, float]]:
    """Start, first page, first requests, later requests."""
    places = kinds(folder)
    starts = []
    for n in range(3):
        served = Served(folder)
        starts.append((served.start_s, served.ready_s))
        if n < 2:
            served.stop()
    time.sleep(_LOOK_SECONDS)
    served.reconnect()
    first, later = {}, {}
    for kind, own in places.items():
        first[kind] = round(served.get(own[0]), 4)
        later[kind] = round(statistics.median(served.get(own[n % len(own)]) for n in range(1, _TIMES + 1)), 4)
    served.stop()
    start_s, ready_s = (statistics.median(each) for each in zip(*starts, strict=True))
    return start_s, ready_s, first, later


def timed_site(folder: Path, out: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "site", str(out)], cwd=folder, check=True, capture_output=True
    )
    return time.perf_counter() - begun


def measure(folder: Path, runs: int, evals: int, trials: int) -> Figures:
    fabricate(folder, runs, evals, trials)
    start_s, ready_s, first, later = measure_pages(folder)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        out = Path(name) / "site"
        site_s = timed_site(folder, out)
        sizes = [path.stat().st_size for path in out.rglob("*") if path.is_file()]
        again_s = timed_site(folder, out)
    return Figures(
        runs=runs,
        trials=runs * evals * trials,
        start_s=round(start_s, 3),
        ready_s=round(ready_s, 3),
        first_s=first,
        later_s=later,
        slowest_page_s=max(later.values()),
        site_s=round(site_s, 1),
        site_mb=round(sum(sizes) / 1_000_000, 1),
        site_files=len(sizes),
        again_s=round(again_s, 2),
    )


def render(figures: Figures, met: dict[str, bool]) -> str:
    lines = [f"{figures.runs} runs, {figures.trials:,} trials; {figures.site_files:,} files of the site"]
    for name, most in TARGETS.items():
        word = "met" if met[name] else "MISSED"
        lines.append(f"{name:16} {getattr(figures, name):8.3f}   target: at most {most:g}: {word}")
    lines.append(f"{'ready_s':16} {figures.ready_s:8.3f}")
    lines.append("page               first s  later s")
    lines += [f"{kind:16} {figures.first_s[kind]:8.3f} {later:8.3f}" for kind, later in figures.later_s.items()]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=200, help="how many runs are made up; at least 1")
    parser.add_argument("--evals", type=int, default=120, help="of each run; at least 1")
    parser.add_argument("--trials", type=int, default=3, help="of each eval; at least 1")
    parser.add_argument("--data", type=Path, help="a folder for what is made up, to be used again")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if min(options.runs, options.evals, options.trials) < 1:
        parser.error("--runs, --evals and --trials must be at least 1")
    with tempfile.TemporaryDirectory() as name:
        folder = (options.data or Path(name) / "suite").absolute()
        folder.mkdir(parents=True, exist_ok=True)
        figures = measure(folder, options.runs, options.evals, options.trials)
    met = {name: getattr(figures, name) <= most for name, most in TARGETS.items()}
    report = {**asdict(figures), "targets": TARGETS, "met": met}
    print(json.dumps(report, indent=2) if options.json else render(figures, met))
    return 0 if all(met.values()) else 1


if __name__ == "__main__":
    start(main)
