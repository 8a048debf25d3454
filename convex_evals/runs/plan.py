"""A run's plan: fingerprints of every input, and the two keys that decide what may be reused or compared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.grading.service import GraderCheck, GradingService, check_graders
from convex_evals.grading.toolchain import is_built
from convex_evals.inputs.suite_files import read_inside
from convex_evals.models import Solver
from convex_evals.records import BackendIdentity, EvalPlan, RunPlan, ToolVersions
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.records.hashes import sha256_files, sha256_parts, sha256_text
from convex_evals.records.names import is_eval_id
from convex_evals.store.run import Run
from convex_evals.store.validations import ValidationFolder
from convex_evals.suite.prompt import Prompt
from convex_evals.suite.suite import Eval, read_project
from convex_evals.text import and_more

# Raised by hand when the meaning of a pass changes.
GRADING_PROTOCOL = 2
LIBRARY = "convex-evals/grader"


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
    evals: Sequence[Eval]
    prompts: Mapping[str, Prompt]  # by eval id
    trials: int
    asked: Asked
    run_id: str
    date: str
    suite_commit: str | None
    named: bool = False  # exactly this id and day are meant: the run is opened where it is there
    planned: Run | None = None  # the run that these words were read from
    leftover: bool = False  # an earlier command left it, with batches that go on; it may no longer be resumable
    within: ValidationFolder | None = None  # whose run it is; None: one of its own


@dataclass(frozen=True)
class GradingRules:
    """What all evals are graded with, now."""

    backend: BackendIdentity
    toolchain: ToolVersions
    library: Mapping[str, str]  # the grader library: texts by path
    strict_types: bool

    def grading_inputs(self, ev: Eval, check: GraderCheck) -> GradingInputs:
        return GradingInputs(
            task_sha256=sha256_text(ev.task),
            grader_sha256=sha256_files(grader_closure(ev, check, self.library)),
            answer_sha256=sha256_files(ev.answer().files),
            pipeline=ev.config.pipeline,
            backend=self.backend,
            typescript=self.toolchain.typescript,
            lint_rules_sha256=self.toolchain.lint_rules_sha256,
            grading_protocol=GRADING_PROTOCOL,
            strict_types=self.strict_types,
        )


async def current_rules(service: GradingService) -> GradingRules:
    return GradingRules(
        backend=service.backend.identity,
        toolchain=await toolchain_versions(service),
        library=library_sources(service.toolchain.script("grader")),
        strict_types=service.prepared.strict_types,
    )


async def make_plan(request: RunRequest, service: GradingService) -> RunPlan:
    """The plan for `request`. Raises `UserError` where a grader cannot be parsed."""
    rules = await current_rules(service)
    checks = await check_graders(service, request.evals)
    refuse_broken_graders(checks)
    odd = next((e.id for e in request.evals if not is_eval_id(e.id)), None)
    if odd is not None:
        raise UserError(
            f"evals/{odd}: this name cannot be a folder of results; rename it: letters, digits, spaces and any of "
            ".,+@~()=%_- , at most 100 characters"
        )
    return RunPlan(
        run_id=request.run_id,
        date=request.date,
        model=request.solver.model,
        experiment=request.asked.experiment,
        trials=request.trials,
        synthetic=request.solver.synthetic,
        guidelines=request.asked.guidelines,
        guidelines_sha256=request.asked.guidelines_sha256,
        prompt_sha256=request.asked.prompt_sha256,
        settings_sha256=request.asked.settings_sha256,
        suite_commit=request.suite_commit,
        grading_protocol=GRADING_PROTOCOL,
        backend=rules.backend,
        toolchain=rules.toolchain,
        evals={e.id: _plan_eval(e, request, rules.grading_inputs(e, checks[e.id])) for e in request.evals},
    )


def _plan_eval(ev: Eval, request: RunRequest, grading: GradingInputs) -> EvalPlan:
    inputs = request.solver.inputs(ev, request.prompts[ev.id])
    return EvalPlan(
        task_sha256=grading.task_sha256,
        answer_sha256=grading.answer_sha256,
        grader_sha256=grading.grader_sha256,
        pipeline=grading.pipeline,
        generation_key=generation_key(ev, inputs, request.solver.model),
        grading_key=grading.key(),
    )


def generation_key(ev: Eval, inputs: Mapping[str, Any], model: str) -> str:
    """What must be equal for a reply to be used again; `inputs` are what the solver says it depends on."""
    return sha256_parts([json.dumps({"task": sha256_text(ev.task), "model": model, **inputs}, sort_keys=True)])


def library_sources(folder: Path) -> dict[str, str]:
    """The texts of the grader library by path, without what is built from them."""
    return read_project(folder, keep=lambda path: not is_built(path))


def grader_closure(ev: Eval, check: GraderCheck, library: Mapping[str, str]) -> dict[str, str]:
    """The texts of a grader and all its relative imports, and of the grader library where one of them uses it."""
    texts = {path: read_inside(ev.root, path) for path in check.inputs}
    if any(LIBRARY in text for text in texts.values()):
        texts |= {f"{LIBRARY}/{path}": text for path, text in library.items()}
    return texts


def refuse_broken_graders(checks: Mapping[str, GraderCheck]) -> None:
    """Raise `UserError` for graders that cannot be parsed: a mistake of the suite, found before any work is done."""
    errors = [line for check in checks.values() for line in check.errors]
    if errors:
        raise UserError(f"{errors[0]}; fix it{and_more(len(errors) - 1)}")


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
        names = [n for n in ToolVersions.model_fields if getattr(before.toolchain, n) != getattr(now.toolchain, n)]
        raise UserError(
            f"{run.folder}: was planned with another toolchain ({', '.join(names)}); "
            "use that version of convex-evals, or plan another run"
        )


async def toolchain_versions(service: GradingService) -> ToolVersions:
    async with service.worker() as (tools, _):
        versions = await tools.checker.request("versions", timeout=60)
    return ToolVersions(
        node=service.toolchain.node.version,
        typescript=versions["typescript"],
        eslint=versions["eslint"],
        vitest=versions["vitest"],
        convex=versions["convex"],
        lockfile_sha256=service.toolchain.lockfile_sha256,
        lint_rules_sha256=versions["rules"],
    )
