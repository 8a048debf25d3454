"""DeepEval's JSON: a list with an object for each trial that was answered.

Beside the keys of a test case, an object has those that a golden may have: its name, comments and what it cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from convex_evals.exports.trials import ExportedRun, ExportedTrial
from convex_evals.render.json_lines import to_json, to_list

NO_REPLY = "no reply is there"
NO_TASK = "the task has changed since, and its commit is not here"


def write(runs: Sequence[ExportedRun]) -> Iterator[bytes]:
    """An object a line."""
    for piece in to_list(to_json(row) for run in runs for row in _rows(run)):
        yield piece.encode()
    yield b"\n"


def _rows(run: ExportedRun) -> Iterator[dict[str, Any]]:
    for trial in run.trials():
        task, reply = trial.asked.task, trial.reply
        if task is None or reply is None:
            run.left_out[NO_REPLY if reply is None else NO_TASK] += 1
        else:
            yield _row(trial, task, reply)


def _row(trial: ExportedTrial, task: str, reply: str) -> dict[str, Any]:
    plan, generation = trial.plan, trial.generation
    return {
        "input": task,
        "actual_output": reply,
        "expected_output": trial.expected_reply,
        "context": [],
        "retrieval_context": [],
        "name": trial.name,
        "comments": trial.reason,
        "token_cost": generation.cost_usd,
        "input_token_count": generation.usage.input_tokens,
        "output_token_count": generation.usage.output_tokens,
        "additional_metadata": {
            "run_id": plan.run_id,
            "date": plan.date,
            "model": plan.model,
            "experiment": plan.experiment,
            "eval": trial.eval_id,
            "trial": trial.number,
            "outcome": trial.verdict.outcome.value,
            "score": trial.verdict.score,
            "caught_by": trial.caught_by,
        },
    }
