"""The columns of CSV and Parquet: a row for each trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from convex_evals.exports.trials import ExportedTrial
from convex_evals.records import StepName

Kind = Literal["text", "integer", "number", "boolean"]
Value = str | int | float | bool | None


@dataclass(frozen=True)
class TrialColumn:
    """A column, and what a trial has in it."""

    name: str
    kind: Kind
    about: str  # for the docs
    value: Callable[[ExportedTrial], Value]


def _step(step: StepName) -> TrialColumn:
    def outcome(trial: ExportedTrial) -> Value:
        return next((s.outcome.value for s in trial.verdict.steps if s.step is step), None)

    return TrialColumn(f"step_{step.value}", "text", f"outcome of the step {step.value}", outcome)


def _tests(outcome: str) -> TrialColumn:
    about = f"tests of the grader that {'were ' if outcome == 'skipped' else ''}{outcome}"
    return TrialColumn(f"tests_{outcome}", "integer", about, lambda trial: len(trial.tests(outcome)))


COLUMNS: tuple[TrialColumn, ...] = (
    TrialColumn("run_id", "text", "the run", lambda t: t.plan.run_id),
    TrialColumn("date", "text", "day of the run, YYYY-MM-DD", lambda t: t.plan.date),
    TrialColumn("model", "text", "slug of the model", lambda t: t.plan.model),
    TrialColumn("experiment", "text", "name of the experiment", lambda t: t.plan.experiment),
    TrialColumn("synthetic", "boolean", "whether no model was asked", lambda t: t.plan.synthetic),
    TrialColumn("guidelines", "text", "file of the guidelines that were given", lambda t: t.plan.guidelines),
    TrialColumn("guidelines_sha256", "text", "their hash", lambda t: t.plan.guidelines_sha256),
    TrialColumn("suite_commit", "text", "commit of the suite", lambda t: t.plan.suite_commit),
    TrialColumn("eval", "text", "the eval, CATEGORY/NAME", lambda t: t.eval_id),
    TrialColumn("category", "text", "its category", lambda t: t.category),
    TrialColumn("trial", "integer", "number of the trial, from 1", lambda t: t.number),
    TrialColumn("outcome", "text", "passed, failed or unscored", lambda t: t.verdict.outcome.value),
    TrialColumn("score", "number", "passed tests / tests that ran", lambda t: t.verdict.score),
    TrialColumn(
        "caught_by",
        "text",
        "the first step that did not pass",
        lambda t: t.verdict.caught_by and t.verdict.caught_by.value,
    ),
    TrialColumn("reason", "text", "why it is not a pass", lambda t: t.reason),
    *map(_tests, ("passed", "failed", "skipped")),
    *map(_step, StepName),
    TrialColumn("grading_ms", "integer", "time of all steps", lambda t: t.verdict.duration_ms),
    TrialColumn("received", "boolean", "whether there was a reply", lambda t: t.generation.received),
    TrialColumn("finish_reason", "text", "why the reply ended", lambda t: t.generation.finish_reason),
    TrialColumn("fault", "text", "why there was no reply, or an unusable one", lambda t: t.generation.fault),
    TrialColumn("requests", "integer", "requests made for the reply", lambda t: len(t.generation.attempts)),
    TrialColumn("cost_usd", "number", "dollars, all requests together", lambda t: t.generation.cost_usd),
    TrialColumn("cost_estimated", "boolean", "whether a price list says so", lambda t: t.generation.cost_estimated),
    TrialColumn("input_tokens", "integer", "of the prompt", lambda t: t.generation.usage.input_tokens),
    TrialColumn("output_tokens", "integer", "of the reply, with reasoning", lambda t: t.generation.usage.output_tokens),
    TrialColumn("cached_tokens", "integer", "of the prompt, from a cache", lambda t: t.generation.usage.cached_tokens),
    TrialColumn(
        "reasoning_tokens", "integer", "of the reply, not shown", lambda t: t.generation.usage.reasoning_tokens
    ),
    TrialColumn("searches", "integer", "web searches", lambda t: t.generation.searches),
    TrialColumn("generation_ms", "integer", "time of the request that counted", lambda t: t.generation.duration_ms),
    TrialColumn("first_token_ms", "integer", "time to its first text", lambda t: t.generation.first_token_ms),
    TrialColumn("reused_from", "text", "the run that paid for the reply", lambda t: t.generation.reused_from),
    TrialColumn("generation_id", "text", "identity of the reply", lambda t: t.generation.generation_id),
    TrialColumn("response_sha256", "text", "hash of the reply", lambda t: t.generation.response_sha256),
    TrialColumn("grading_key", "text", "what makes verdicts comparable", lambda t: t.graded.grading_key),
    TrialColumn("sandbox", "text", "level of containment", lambda t: t.graded.sandbox),
)
