"""One trial in full: what was asked, what came back, what was expected, and how the two differ."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.models import Item
from convex_evals.records import Generation, Outcome, RunPlan, Summary, TrialGrade
from convex_evals.records.hashes import sha256_files, sha256_text
from convex_evals.store.run import Run
from convex_evals.suite.asked import reply_files

# In the order in which they are shown: what is looked for most stands last, next to the prompt.
SECTIONS = ("task", "expected", "response", "diff", "verdict")

# To compare longer files takes minutes where many lines are alike.
_MOST_LINES = 5_000


@dataclass(frozen=True)
class Source:
    """The eval as the suite has it now. Fields are None where it is gone."""

    task: str | None
    expected: Mapping[str, str] | None
    notes: tuple[str, ...]  # what has changed since the run


@dataclass(frozen=True)
class Trial:
    """One trial's reply and verdict."""

    number: int
    generation: Generation
    grade: TrialGrade
    folder: Path  # of the eval in its run
    reply: str | None  # as it came; None where nothing was received, or it is no longer there
    plan: RunPlan  # of the run
    pruned: str | None  # the day on which the run's replies were dropped

    @property
    def place(self) -> str:
        """The file of the reply."""
        return str(self.folder / f"{self.number}.md")

    @cached_property
    def files(self) -> Mapping[str, str]:
        """Of the reply."""
        return {} if self.reply is None else reply_files(self.plan, self.reply)


def find_eval(run: Run, part: str) -> str:
    """The eval of `run` that has this id, or the only one whose id has this part. Raises `UserError`."""
    found = [part] if part in run.plan.evals else [e for e in run.plan.evals if part in e]
    if len(found) == 1:
        return found[0]
    what = f"fits {len(found)} evals: {', '.join(found[:5])}" if found else "no such eval in this run"
    raise UserError(f"{part}: {what}; `cli show {run.plan.run_id}` lists them")


def read_source(run: Run, eval_id: str, ev: Item | None) -> Source:
    """Task and answer of today, compared with those of the run."""
    of_sessions = run.plan.comparison is not None
    if ev is None:
        where = "among the sessions" if of_sessions else "in the suite"
        return Source(None, None, (f"{eval_id} is not {where} any more: neither task nor answer can be shown",))
    plan = run.plan.evals[eval_id]
    task, expected = ev.task, ev.expected_files()
    changed = {
        "the conversation" if of_sessions else "TASK.txt": sha256_text(task) != plan.task_sha256,
        "the expected reply" if of_sessions else "answer/": sha256_files(expected) != plan.answer_sha256,
    }
    where = f"; commit {run.plan.suite_commit[:10]} has it as it was" if run.plan.suite_commit else ""
    return Source(task, expected, tuple(f"{n} has changed since this run{where}" for n, c in changed.items() if c))


def read_trials(run: Run, eval_id: str, summary: Summary | None = None) -> list[Trial]:
    """All trials of a written eval, in order; `summary` is the run's, where it was read."""
    generations = run.generations(eval_id)
    pruned = run.pruned
    day = pruned.date if pruned else None
    file = run.grade(eval_id, summary)
    folder = run.eval_folder(eval_id)
    return [
        Trial(t.trial, generations[t.trial], t, folder, run.reply(eval_id, t.trial), run.plan, day) for t in file.trials
    ]


def most_telling(trials: Sequence[Trial]) -> Trial:
    """The first that failed, else the first that has no verdict, else the first."""
    for outcome in (Outcome.FAILED, Outcome.UNSCORED):
        for trial in trials:
            if trial.grade.verdict.outcome is outcome:
                return trial
    return trials[0]


def unified_diff(expected: Mapping[str, str], files: Mapping[str, str]) -> str:
    """From the expected files to those of the reply; files that are alike are left out."""
    lines: list[str] = []
    for path in sorted({*expected, *files}):
        before, after = expected.get(path), files.get(path)
        if (after or "").count("\n") > _MOST_LINES:
            lines.append(f"response/{path}: more than {_MOST_LINES:,} lines, not compared")
            continue
        lines += difflib.unified_diff(
            (before or "").splitlines(),
            (after or "").splitlines(),
            "/dev/null" if before is None else f"expected/{path}",
            "/dev/null" if after is None else f"response/{path}",
            lineterm="",
        )
    return "\n".join(lines)


def trial_to_data(trial: Trial, source: Source, sections: Sequence[str]) -> dict[str, Any]:
    """The trial's part of the chosen sections, unabridged and as it was written."""
    data: dict[str, Any] = {"trial": trial.number, "outcome": trial.grade.verdict.outcome.value}
    if "response" in sections:
        data |= {
            "generation": trial.generation.model_dump(mode="json", by_alias=True),
            "response": trial.reply,
            "files": dict(trial.files),
        }
    if "diff" in sections:
        known = source.expected is not None and bool(trial.files)
        data["diff"] = unified_diff(source.expected or {}, trial.files) if known else None
    if "verdict" in sections:
        data["verdict"] = trial.grade.verdict.model_dump(mode="json", by_alias=True)
    return data


def eval_to_data(
    run: Run, eval_id: str, source: Source, trials: Sequence[Trial], sections: Sequence[str]
) -> dict[str, Any]:
    """The chosen sections of an eval and of these trials of it."""
    data: dict[str, Any] = {
        "run_id": run.plan.run_id,
        "model": run.plan.model,
        "experiment": run.plan.experiment,
        "eval": eval_id,
        "notes": list(source.notes),
    }
    if "task" in sections:
        data["task"] = source.task
    if "expected" in sections:
        data["expected"] = source.expected
    return {**data, "trials": [trial_to_data(t, source, sections) for t in trials]}
