"""A made-up repository whose truth is known: commits of guidelines, and runs of made-up models with some of them.

For tests and benchmarks of comparisons. Every commit changes one rule; every rule is about one eval. All of it follows
from the numbers that are asked for: commits have the same names wherever it is made.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from convex_evals.records import (
    Generation,
    GenerationFile,
    GradeFile,
    Outcome,
    RunPlan,
    StepName,
    TrialGrade,
    Usage,
)
from convex_evals.records.grading_inputs import grade_name
from convex_evals.records.hashes import sha256_text
from convex_evals.store.paths import slug_folders
from convex_evals.store.run import GENERATION_NAME, PLAN_NAME, SUMMARY_NAME, Run
from convex_evals.store.summary import summarize
from convex_evals.suite.prompt import guidelines_sha256
from tests import factories
from tests.factories import GENERATION_KEY, GRADING_KEY

PATH = "guidelines/convex.md"
CATEGORIES = 8
_WORDS = [*["read", "write", "index", "page", "cursor", "table", "field", "value", "query", "action"]]
_WORDS += [*["handler", "router", "crypto", "header", "token", "batch"]]

# The chance that a model passes an eval when it is given a version of the guidelines.
Truth = Callable[[str, str, int], float]


def eval_ids(count: int) -> list[str]:
    return [f"{n % CATEGORIES:03}-category_{n % CATEGORIES}/{n // CATEGORIES:03}-eval_{n}" for n in range(count)]


def models(count: int) -> list[str]:
    return [f"acme/model-{n}" for n in range(1, count + 1)]


def texts(count: int, evals: Sequence[str]) -> list[str]:
    """Versions of guidelines; each differs from the one before by one rule: another wording, place, or existence."""
    draw = random.Random(1)
    rules = {e: f"- About {e.rpartition('-')[2]}: {_sentence(draw)}" for e in evals}
    order, gone = list(evals[:-2]), list(evals[-2:])
    found = [_text(order, rules)]
    for n in range(1, count):
        target = evals[n * 7 % len(evals)]
        kind = n % 10
        if kind == 3 and target in order:
            order.remove(target)
            gone.append(target)
        elif kind == 6 and gone:
            order.append(gone.pop(0))
        elif kind == 8 and target in order:
            order.remove(target)
            order.insert(0, target)
        words = rules[target].split(" ")
        words[4 + n % 8] = f"{draw.choice(_WORDS)}-{n}"
        rules[target] = " ".join(words)
        found.append(_text(order, rules))
    return found


def _sentence(draw: random.Random) -> str:
    return f"{' '.join(draw.choice(_WORDS) for _ in range(24)).capitalize()}."


def _text(order: Sequence[str], rules: dict[str, str]) -> str:
    lines = ["# Rules", ""]
    for n in range(CATEGORIES):
        lines += [f"## Category {n}", ""]
        for e in order:
            if e.startswith(f"{n:03}-"):
                lines += [rules[e], f"<!-- evals: {e} -->"]
        lines.append("")
    return "\n".join(lines)


def make_repository(folder: Path, versions: Sequence[str], evals: Sequence[str]) -> list[str]:
    """A suite in a new repository with one commit for each version of the guidelines; the commits, oldest first."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = ["feature done\n"]
    for n, text in enumerate(versions, 1):
        data, message = text.encode(), f"Guidelines {n}\n"
        stream.append(
            f"commit refs/heads/main\nmark :{n}\n"
            f"committer Test <test@example.org> {1_767_225_600 + 3_600 * n} +0000\n"
            f"data {len(message)}\n{message}" + (f"from :{n - 1}\n" if n > 1 else "")
        )
        ignored = b".cache\nruns\n"
        stream.append(f"M 100644 inline .gitignore\ndata {len(ignored)}\n{ignored.decode()}\n")
        stream.append(f"M 100644 inline {PATH}\ndata {len(data)}\n{text}\n")
    stream.append("done\n")
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "fast-import", "--quiet", stdin="".join(stream))
    _git(folder, "reset", "-q", "--hard", "main")
    for e in evals:
        (folder / "evals" / e).mkdir(parents=True)
        (folder / "evals" / e / "TASK.txt").write_text(f"Do what {e} says.\n")
    return _git(folder, "rev-list", "--reverse", "main").split()


def _git(folder: Path, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, input=stdin.encode(), capture_output=True, check=True)
    return done.stdout.decode()


@dataclass(frozen=True)
class Campaign:
    """Runs to be made up: every one of `models` with every one of `versions` (numbers of texts)."""

    models: Sequence[str]
    versions: Sequence[int]
    evals: Sequence[str]
    trials: int
    truth: Truth
    seed: int = 0
    experiment: str = "default"

    def write(self, runs: Path, versions: Sequence[str]) -> int:
        """Write the runs below `runs`; the number of their results, which are evals of runs."""
        for version in self.versions:
            digest = None if self.experiment == "no_guidelines" else guidelines_sha256(versions[version])
            for model in self.models:
                draw = random.Random(f"{self.seed} {version} {model} {self.experiment}")
                plan = make_plan(model, self.experiment, version, self.evals, self.trials, digest)
                folder = runs.joinpath(*slug_folders(model), plan.date, plan.run_id)
                run = Run(folder, plan)
                for e in self.evals:
                    chance = self.truth(model, e, version)
                    passes = [draw.random() < chance for _ in range(self.trials)]
                    write_all(run.eval_folder(e), eval_files(f"{plan.run_id} {model}", e, passes))
                write_all(folder, {PLAN_NAME: plan.to_json()})
                write_all(folder, {SUMMARY_NAME: summarize(run).to_json()})
        return len(self.models) * len(self.versions) * len(self.evals)


def make_plan(
    model: str, experiment: str, number: int, evals: Sequence[str], trials: int = 1, guidelines: str | None = None
) -> RunPlan:
    """The plan of a run; its day and its name follow from `number`. `guidelines`: what they hash to."""
    return factories.make_plan(
        run_id=f"{experiment}-{number:08x}",
        date=f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}",
        model=model,
        experiment=experiment,
        trials=trials,
        synthetic=False,
        guidelines=PATH if guidelines else None,
        guidelines_sha256=guidelines,
        # As golden files have them.
        toolchain=factories.make_toolchain(lockfile="5" * 64, lint_rules="6" * 64),
        evals=dict.fromkeys(evals, factories.make_eval_plan()),
    )


_VERDICTS = {
    True: factories.make_verdict(),
    False: factories.make_verdict(Outcome.FAILED, StepName.TESTS),
}


def eval_files(run: str, eval_id: str, passes: Sequence[bool]) -> dict[str, str]:
    """What a run says of an eval, by file name: a trial for each of `passes`. `run` names it among others."""
    files = {name: text.replace(_EVAL, eval_id) for name, text in _template(tuple(passes)).items()}
    for n in range(len(passes)):
        generation_id = sha256_text(f"{run} {eval_id} {n}")[:16]
        files = {name: text.replace(_placeholder(n), generation_id) for name, text in files.items()}
    return files


_EVAL = "000-placeholder/000-eval"  # what stands for an eval in a template


def _placeholder(n: int) -> str:
    """What stands for the identity of a reply in a template."""
    return f"fab{n:013x}"


@cache
def _template(passes: tuple[bool, ...]) -> dict[str, str]:
    """An eval's files, but for what is its own."""
    generations = tuple(
        Generation(
            trial=n + 1,
            generation_id=_placeholder(n),
            received=True,
            response_sha256="8" * 64,
            cost_usd=0.01,
            duration_ms=9_000,
            usage=Usage(input_tokens=4_000, output_tokens=900),
        )
        for n in range(len(passes))
    )
    grades = tuple(
        TrialGrade(trial=n + 1, generation_id=_placeholder(n), verdict=_VERDICTS[passed])
        for n, passed in enumerate(passes)
    )
    file = GradeFile(eval=_EVAL, grading_key=GRADING_KEY, sandbox="strict", trials=grades)
    return {
        GENERATION_NAME: GenerationFile(eval=_EVAL, generation_key=GENERATION_KEY, trials=generations).to_json(),
        grade_name(GRADING_KEY): file.to_json(),
    }


def write_all(folder: Path, files: dict[str, str]) -> None:
    """Plainly: files that are synced to the disk one by one take minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
