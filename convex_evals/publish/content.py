"""What is sent of one trial of a run, in the words of the deployment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from convex_evals.errors import UserError
from convex_evals.models.catalog import Catalog
from convex_evals.models.faults import Fault
from convex_evals.publish.bundles import EvalSource, zip_reply
from convex_evals.publish.versions import BenchmarkVersion
from convex_evals.records import Generation, Outcome, RunPlan, StepOutcome, StepResult, Verdict
from convex_evals.records.publication import run_text
from convex_evals.store.run import Run
from convex_evals.suite.extract import extract
from convex_evals.text import shortened

DEFAULT_EXPERIMENT = "default"
_LONGEST_REASON = 8_000  # characters
_NO_REASON = "no reason was recorded"


@dataclass(frozen=True)
class EvalContent:
    """One eval of a trial."""

    id: str
    generation: Generation
    verdict: Verdict
    reply: str | None

    @property
    def passed(self) -> bool:
        return self.verdict.outcome is Outcome.PASSED

    @property
    def steps(self) -> dict[str, dict[str, Any]]:
        """The final status of each, by name, in their order."""
        return {s.step.value: self._step(s) for s in self.verdict.steps}

    @property
    def duration_ms(self) -> int:
        return self.generation.duration_ms + self.verdict.duration_ms

    def status(self, output: str | None) -> dict[str, Any]:
        """Of the whole, with the file of the reply."""
        kind = {"kind": "passed"} if self.passed else {"kind": "failed", "failureReason": self._reason()}
        given = {
            **kind,
            "durationMs": self.duration_ms,
            "generationDurationMs": self.generation.duration_ms if self.generation.received else None,
            "outputStorageId": output,
            "usage": _usage([self.generation]),
        }
        return _without_none(given)

    def zip_output(self) -> bytes | None:
        """The files of the reply; None where there are none."""
        return zip_reply(extract(self.reply).files) if self.reply is not None else None

    def _step(self, step: StepResult) -> dict[str, Any]:
        if step.outcome is StepOutcome.SKIPPED:
            return {"kind": "skipped"}
        if step.outcome is StepOutcome.PASSED:
            return {"kind": "passed", "durationMs": step.duration_ms}
        mark = f"{self._mark()} " if step.outcome is StepOutcome.UNSCORED else ""
        return {
            "kind": "failed",
            "failureReason": shortened(f"{mark}{step.reason or _NO_REASON}", _LONGEST_REASON),
            "durationMs": step.duration_ms,
        }

    def _reason(self) -> str:
        verdict = self.verdict
        if verdict.outcome is Outcome.UNSCORED:
            reason = verdict.reason or self.generation.reason or _NO_REASON
            return shortened(f"{self._mark()} {reason}", _LONGEST_REASON)
        # With the step in front, no text of a model can look like one of our marks.
        return shortened(f"{verdict.caught_by or 'grading'}: {verdict.reason or _NO_REASON}", _LONGEST_REASON)

    def _mark(self) -> str:
        """How a failure is told there that is not the model's."""
        return "[rate_limit]" if self.generation.fault == Fault.RATE_LIMIT.word else "[infrastructure]"


@dataclass(frozen=True)
class TrialContent:
    """One trial, which is a run there."""

    plan: RunPlan
    trial: int
    evals: Mapping[str, EvalContent]
    sources: Mapping[str, EvalSource]
    version: BenchmarkVersion

    @property
    def text(self) -> str:
        return run_text(self.plan, self.trial)

    @property
    def experiment(self) -> str | None:
        return experiment_there(self.plan.experiment)

    def start(self, model: str) -> dict[str, Any]:
        """What `startRun` is told; `model` is the id of the model there."""
        return _without_none(
            {
                "modelId": model,
                "provider": provider(self.plan),
                "runId": self.text,
                "plannedEvals": sorted(self.plan.evals),
                "benchmarkVersion": self.version.sent,
                "experiment": self.experiment,
            }
        )

    @property
    def status(self) -> dict[str, Any]:
        """Of the whole."""
        evals = self.evals.values()
        usage = _usage([e.generation for e in evals])
        return _without_none({"kind": "completed", "durationMs": sum(e.duration_ms for e in evals), "usage": usage})


def experiment_there(name: str) -> str | None:
    """The argument that an experiment is there; None: it is left out."""
    return None if name == DEFAULT_EXPERIMENT else name


def provider(plan: RunPlan) -> str:
    return plan.model.partition("/")[0]


def model_there(plan: RunPlan, catalog: Catalog) -> dict[str, Any]:
    """What `ensureModelFromSlug` is told of the run's model."""
    entry = next((e for e in catalog.entries if e.slug == plan.model), None)
    seen = entry.first_seen if entry else None
    return _without_none(
        {
            "slug": plan.model,
            "formattedName": (entry.name if entry else None) or plan.model,
            "provider": provider(plan),
            "apiKind": entry.api if entry else None,
            "openRouterFirstSeenAt": (
                int(datetime(seen.year, seen.month, seen.day, tzinfo=UTC).timestamp() * 1000) if seen else None
            ),
        }
    )


def read_trial(run: Run, trial: int, sources: Mapping[str, EvalSource], version: BenchmarkVersion) -> TrialContent:
    """Raises `UserError` where an eval has no such trial, or its reply is no longer here."""
    evals = {eval_id: _read_eval(run, eval_id, trial) for eval_id in run.plan.evals}
    return TrialContent(run.plan, trial, evals, sources, version)


def _read_eval(run: Run, eval_id: str, trial: int) -> EvalContent:
    grade = next((t for t in run.grade(eval_id).trials if t.trial == trial), None)
    if grade is None:
        raise UserError(f"{run.eval_folder(eval_id)}: has no trial {trial} of {run.plan.trials}; nothing is published")
    return EvalContent(eval_id, run.generations(eval_id)[trial], grade.verdict, run.response(eval_id, trial))


def _usage(generations: Iterable[Generation]) -> dict[str, Any] | None:
    """Tokens and dollars of these replies together; None where nothing is known of them."""
    made = list(generations)
    given, written = (sum(getattr(g.usage, name) for g in made) for name in ("input_tokens", "output_tokens"))
    cached, hidden = (sum(getattr(g.usage, name) for g in made) for name in ("cached_tokens", "reasoning_tokens"))
    cost = sum(g.cost_usd for g in made)
    if not (given or written or cost):
        return None
    return {
        "inputTokens": given,
        "inputTokenDetails": {"noCacheTokens": max(given - cached, 0), "cacheReadTokens": cached},
        "outputTokens": written,
        "outputTokenDetails": {"textTokens": max(written - hidden, 0), "reasoningTokens": hidden},
        "totalTokens": given + written,
        **({"raw": {"cost": cost}} if cost else {}),
    }


def _without_none(given: dict[str, Any]) -> dict[str, Any]:
    """An argument that is not there is left out: null is another value."""
    return {name: value for name, value in given.items() if value is not None}
