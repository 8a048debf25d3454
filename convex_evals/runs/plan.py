"""A run's plan: fingerprints of every input, and the two keys that decide what may be reused or compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from convex_evals.errors import UserError
from convex_evals.grading.comparison import COMPARISON_PROTOCOL
from convex_evals.models import Item, Solver
from convex_evals.records import ComparisonRules, EvalPlan, RunPlan, ToolVersions
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.records.hashes import sha256_parts, sha256_text
from convex_evals.records.names import is_eval_id
from convex_evals.runs.grading_rules import GRADING_PROTOCOL
from convex_evals.runs.judging import Judge
from convex_evals.sessions.opinions import ModelJudge
from convex_evals.store.run import Run
from convex_evals.store.validations import ValidationFolder
from convex_evals.suite.prompt import Prompt


@dataclass(frozen=True)
class Asked:
    """What a model is sent besides the tasks."""

    experiment: str
    guidelines: str | None  # where they come from; None: none are given
    guidelines_sha256: str | None
    prompt_sha256: str | None  # of the prompt's template; None: no model is asked
    settings_sha256: str  # of the experiment's web search and parameters


@dataclass(frozen=True)
class RunRequest:
    """What the user asked for, resolved."""

    solver: Solver
    evals: Sequence[Item]
    prompts: Mapping[str, Prompt]  # by eval id
    trials: int
    asked: Asked
    run_id: str
    date: str
    suite_commit: str | None
    suite_evals: int | None = None  # that the suite has; None: `evals` are sessions
    planned_at: str | None = None  # None: the day was given, and the plan has to be alike on every machine
    named: bool = False  # exactly this id and day are meant: the run is opened where it is there
    planned: Run | None = None  # the run that these words were read from
    leftover: bool = False  # an earlier command left it, with batches that go on; it may no longer be resumable
    within: ValidationFolder | None = None  # whose run it is; None: one of its own
    comparison: ComparisonRules | None = None  # of replies to sessions; None: `evals` are those of the suite
    judge: ModelJudge | None = None  # of replies to sessions: the one that `comparison` names


async def make_plan(request: RunRequest, judge: Judge) -> RunPlan:
    """The plan for `request`. Raises `UserError` where a grader cannot be parsed."""
    grading = await judge.planned()
    odd = next((e.id for e in request.evals if not is_eval_id(e.id)), None)
    if odd is not None:
        raise UserError(
            f"evals/{odd}: this name cannot be a folder of results; rename it: letters, digits, spaces and any of "
            ".,+@~()=%_- , at most 100 characters"
        )
    return RunPlan(
        run_id=request.run_id,
        date=request.date,
        planned_at=request.planned_at,
        model=request.solver.model,
        experiment=request.asked.experiment,
        trials=request.trials,
        synthetic=request.solver.synthetic,
        guidelines=request.asked.guidelines,
        guidelines_sha256=request.asked.guidelines_sha256,
        prompt_sha256=request.asked.prompt_sha256,
        settings_sha256=request.asked.settings_sha256,
        suite_commit=request.suite_commit,
        suite_evals=request.suite_evals,
        grading_protocol=COMPARISON_PROTOCOL if request.comparison else GRADING_PROTOCOL,
        backend=grading.backend,
        toolchain=grading.toolchain,
        comparison=request.comparison,
        evals={e.id: _plan_eval(e, request, grading.inputs[e.id]) for e in request.evals},
    )


def _plan_eval(item: Item, request: RunRequest, grading: GradingInputs) -> EvalPlan:
    inputs = request.solver.inputs(item, request.prompts[item.id])
    return EvalPlan(
        task_sha256=grading.task_sha256,
        answer_sha256=grading.answer_sha256,
        grader_sha256=grading.grader_sha256,
        pipeline=grading.pipeline,
        generation_key=generation_key(item, inputs, request.solver.model),
        grading_key=grading.key(),
    )


def generation_key(item: Item, inputs: Mapping[str, Any], model: str) -> str:
    """What must be equal for a reply to be used again; `inputs` are what the solver says it depends on."""
    return sha256_parts([json.dumps({"task": sha256_text(item.task), "model": model, **inputs}, sort_keys=True)])


def keys_of(request: RunRequest) -> dict[str, str]:
    """By eval: the generation key of its trials."""
    solver = request.solver
    return {e.id: generation_key(e, solver.inputs(e, request.prompts[e.id]), solver.model) for e in request.evals}


def refuse_other_work(run: Run, now: RunPlan) -> None:
    """Raise `UserError` where `run` was planned with other inputs than there are `now`."""
    before = run.plan
    if before.fingerprint_inputs() != now.fingerprint_inputs():
        edited = [e for e in before.evals if before.evals[e] != now.evals.get(e)]
        added = [e for e in now.evals if e not in before.evals]
        what = f"{edited[0]} has changed" if edited else f"{added[0]} was not planned" if added else "other options"
        if len(edited) == len(before.evals) > 1:
            what = "guidelines, prompt, model or graders have changed"
        raise UserError(
            f"{run.folder}: was planned with other inputs ({what}); restore them from Git, or plan another run"
        )
    if before.toolchain != now.toolchain and not run.is_complete:
        versions = [plan.toolchain.model_dump() if plan.toolchain else {} for plan in (before, now)]
        names = [n for n in ToolVersions.model_fields if versions[0].get(n) != versions[1].get(n)]
        raise UserError(
            f"{run.folder}: was planned with another toolchain ({', '.join(names)}); "
            "use that version of convex-evals, or plan another run"
        )
