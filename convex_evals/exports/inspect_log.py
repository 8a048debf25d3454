"""Logs that Inspect reads (`inspect view`, `read_eval_log`): one for each run, a sample for each trial.

The format is Inspect's JSON log, version 2. Two scorers stand in it: `verdict` says whether a trial passed, `tests` is
the share of the grader's tests that passed. A trial without a verdict is a sample with an error, which counts nowhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from convex_evals.exports.trials import ExportedRun, ExportedTrial
from convex_evals.records import Generation, Outcome, RunPlan, Usage
from convex_evals.render.json_lines import to_json, to_list
from convex_evals.store.paths import slug_folders

NOT_HERE = "[The task has changed since this run, and its commit is not here.]"
_VALUES = {Outcome.PASSED: "C", Outcome.FAILED: "I"}
_STOPS = {"stop": "stop", "end_turn": "stop", "length": "max_tokens", "max_tokens": "max_tokens"}


@dataclass
class _Totals:
    """Of a run's samples."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    scores: list[float] = field(default_factory=list)
    usage: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0

    def add(self, trial: ExportedTrial) -> None:
        self.outcomes[trial.verdict.outcome] += 1
        if trial.verdict.outcome is not Outcome.UNSCORED:
            self.scores.append(trial.verdict.score)
        self.usage.update(tokens(trial.generation.usage))
        self.cost_usd += trial.generation.cost_usd


def file_name(exported: ExportedRun) -> str:
    """As Inspect names its logs, so that it finds them in a folder: time, task, model and id."""
    plan = exported.run.plan
    words = (plan.experiment, "-".join(slug_folders(plan.model)))
    return "_".join((f"{plan.date}T00-00-00+00-00", *(w.replace("_", "-") for w in words), _task_id(plan))) + ".json"


def _task_id(plan: RunPlan) -> str:
    """In the name of a file, Inspect takes what follows a dash or an underscore for something else."""
    return re.sub("[-_]", ".", plan.run_id)


def write(runs: Sequence[ExportedRun]) -> Iterator[bytes]:
    """Yield the log of the one run in `runs`. Samples come last, so that readers of its header can stop before them."""
    (exported,) = runs
    totals = _Totals()
    evals: dict[str, None] = {}
    for trial in exported.trials():
        totals.add(trial)
        evals[trial.eval_id] = None
    plan = exported.run.plan
    head = {
        "version": 2,
        "status": "cancelled" if exported.unfinished else "success",
        "eval": _spec(plan, list(evals)),
        "plan": {"name": "plan", "steps": [{"solver": "generate", "params": {}}], "config": {}},
        "results": _results(totals),
        "stats": {
            "started_at": _began(plan),
            "completed_at": _began(plan),
            "model_usage": {plan.model: {**totals.usage, "total_cost": totals.cost_usd}},
        },
    }
    yield (to_json(head).removesuffix("}") + ', "samples": ').encode()
    for piece in to_list(to_json(_sample(trial)) for trial in exported.trials()):
        yield piece.encode()
    yield b"}\n"


def _began(plan: RunPlan) -> str:
    """A run records its day alone."""
    return f"{plan.date}T00:00:00+00:00"


def _spec(plan: RunPlan, evals: Sequence[str]) -> dict[str, Any]:
    facts = {
        "synthetic": plan.synthetic,
        "guidelines": plan.guidelines,
        "guidelines_sha256": plan.guidelines_sha256,
        "suite_commit": plan.suite_commit,
        "backend": plan.backend_words,
    }
    return {
        "eval_id": plan.run_id,
        "run_id": plan.run_id,
        "created": _began(plan),
        "task": plan.experiment,
        "task_id": _task_id(plan),
        "model": plan.model,
        "dataset": {"name": "evals", "samples": len(evals), "sample_ids": list(evals), "shuffled": False},
        "config": {"epochs": plan.trials},
        "metadata": {key: value for key, value in facts.items() if value is not None},
        "scorers": [{"name": "verdict"}, {"name": "tests"}],
    }


def _results(totals: _Totals) -> dict[str, Any]:
    scored, unscored = len(totals.scores), totals.outcomes[Outcome.UNSCORED]
    rate = totals.outcomes[Outcome.PASSED] / scored if scored else None
    mean = sum(totals.scores) / scored if scored else None
    return {
        "total_samples": scored + unscored,
        "completed_samples": scored,
        "scores": [
            {
                "name": name,
                "scorer": name,
                "scored_samples": scored,
                "unscored_samples": unscored,
                "params": {},
                "metrics": {} if value is None else {metric: {"name": metric, "value": value, "params": {}}},
            }
            for name, metric, value in (("verdict", "accuracy", rate), ("tests", "mean", mean))
        ],
    }


def _sample(trial: ExportedTrial) -> dict[str, Any]:
    task, reply = trial.asked.task, trial.reply
    question = NOT_HERE if task is None else task
    asked = [{"id": "task", "role": "user", "source": "input", "content": question}]
    answered = [] if reply is None else [_answer(trial, reply)]
    sample = {
        "id": trial.eval_id,
        "epoch": trial.number,
        "input": question,
        "target": trial.expected_reply or "",
        "messages": [*asked, *answered],
        "output": _output(trial, answered),
        "scores": _scores(trial),
        "metadata": _metadata(trial),
        "model_usage": {trial.plan.model: _usage(trial.generation)},
        "total_time": trial.duration_ms / 1000,
        "working_time": trial.generation.duration_ms / 1000,
        "uuid": trial.generation.generation_id,
    }
    if trial.verdict.outcome is Outcome.UNSCORED:
        why = trial.reason or "no verdict"
        sample["error"] = {"message": why, "traceback": why, "traceback_ansi": why}
    return sample


def _answer(trial: ExportedTrial, reply: str) -> dict[str, Any]:
    return {"id": "reply", "role": "assistant", "source": "generate", "model": trial.plan.model, "content": reply}


def _output(trial: ExportedTrial, answered: Sequence[dict[str, Any]]) -> dict[str, Any]:
    generation = trial.generation
    stop = _STOPS.get(generation.finish_reason or "", "unknown")
    return {
        "model": trial.plan.model,
        "choices": [{"message": message, "stop_reason": stop} for message in answered],
        "usage": _usage(generation),
        "time": generation.duration_ms / 1000,
        **({"error": generation.reason} if generation.reason else {}),
    }


def _scores(trial: ExportedTrial) -> dict[str, Any]:
    """The explanation is what a viewer shows beside the mark."""
    value = _VALUES.get(trial.verdict.outcome)
    if value is None:
        return {}
    return {
        "verdict": {"value": value, "explanation": trial.reason or "passed"},
        "tests": {"value": trial.verdict.score, "explanation": _tests(trial)},
    }


def _tests(trial: ExportedTrial) -> str:
    return "\n".join(f"{test.outcome}: {test.name}" for test in trial.verdict.tests) or "no test ran"


def _metadata(trial: ExportedTrial) -> dict[str, Any]:
    return {
        "category": trial.category,
        "outcome": trial.verdict.outcome.value,
        "caught_by": trial.caught_by,
        "steps": {step.step.value: step.outcome.value for step in trial.verdict.steps},
        "tests": [test.model_dump(mode="json", exclude_none=True) for test in trial.verdict.tests],
        "fault": trial.generation.fault,
        "reused_from": trial.generation.reused_from,
        "sandbox": trial.graded.sandbox,
    }


def tokens(usage: Usage) -> dict[str, int]:
    """Inspect's input tokens are those that came from no cache."""
    return {
        "input_tokens": max(usage.input_tokens - usage.cached_tokens, 0),
        "input_tokens_cache_read": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _usage(generation: Generation) -> dict[str, Any]:
    return {**tokens(generation.usage), "total_cost": generation.cost_usd}
