"""Benchmarks from the suite as it stands, or from what runs recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from convex_evals.config import Workspace
from convex_evals.errors import UserError
from convex_evals.grading.sandbox.choice import own_code
from convex_evals.grading.setup import ready_service
from convex_evals.records.benchmark import Benchmark, BenchmarkEval, BenchmarkExperiment, benchmark_id
from convex_evals.records.grading_inputs import GradingInputs
from convex_evals.records.names import is_benchmark_name
from convex_evals.render.terminal import Display
from convex_evals.runs.plan import Asked
from convex_evals.runs.regrade import look_at
from convex_evals.runs.request import asked_under
from convex_evals.store.run import Run
from convex_evals.suite.suite import load_suite, refuse_incomplete
from convex_evals.text import counted
from convex_evals.vcs.git import clean_commit, has_commits


def refuse_bad_name(name: str) -> None:
    if not is_benchmark_name(name):
        raise UserError(
            f"{name[:60]}: no name of a benchmark; use lower-case letters, digits, '.', '_' and '-', 40 at most"
        )


async def mint_suite(
    name: str, experiments: Sequence[str], models: Sequence[str], workspace: Workspace, display: Display
) -> Benchmark:
    """The suite of now under these experiments. Raises `UserError` where it has changes that are not committed."""
    asked = [asked_under(experiment, workspace) for experiment in dict.fromkeys(experiments)]
    evals = load_suite(workspace.suite).evals
    refuse_incomplete(evals)
    commit = clean_commit(workspace.suite)
    if commit is None and has_commits(workspace.suite):
        raise UserError(
            f"{workspace.suite}: has changes that are not committed (`git status` lists them), and a benchmark must be "
            "found again; commit them first"
        )
    display.preparing("starting the graders", 0, 0)
    async with ready_service(
        workspace.suite, workspace.config, 1, display.preparing, display.warn, own_code()
    ) as service:
        display.preparing(f"looking at {counted(len(evals), 'eval')}", 0, 0)
        today = await look_at(service, evals)
    return _benchmark(name, asked, commit, models, today.inputs)


def mint_runs(name: str, models: Sequence[str], runs: Sequence[Run]) -> Benchmark:
    """What runs were of, by their plans.

    Raises `UserError` where one says nothing of how models do, and where they are not of the same evals and graders.
    """
    first, *others = runs
    inputs, asked = _recorded(first), {first.plan.experiment: _asked(first)}
    for run in others:
        if _recorded(run) != inputs:
            raise UserError(
                f"{run.plan.run_id}: is of other evals or graders than {first.plan.run_id}; mint it under another name"
            )
        own = _asked(run)
        if asked.setdefault(own.experiment, own) != own:
            raise UserError(
                f"{run.plan.run_id}: was asked otherwise under {own.experiment} than another of these runs; mint it "
                "under another name"
            )
    return _benchmark(name, list(asked.values()), first.plan.suite_commit, models, inputs)


def _asked(run: Run) -> Asked:
    plan = run.plan
    return Asked(plan.experiment, plan.guidelines, plan.guidelines_sha256, plan.prompt_sha256, plan.settings_sha256)


def _recorded(run: Run) -> dict[str, GradingInputs]:
    """By eval. Raises `UserError` for a run that no score can be compared with."""
    plan = run.plan
    if plan.synthetic:
        raise UserError(f"{plan.run_id}: asked no model, so nothing is compared with it; name another run")
    if plan.comparison or not (plan.backend and plan.toolchain):
        raise UserError(f"{plan.run_id}: is a run of sessions, and benchmarks are of evals; name another run")
    summary = run.summary()
    if summary is not None and summary.benchmark != benchmark_id(plan):
        raise UserError(f"{plan.run_id}: was graded again since it was planned; mint the suite itself, without --from")
    inputs = {e: GradingInputs.recorded(plan, e) for e in plan.evals}
    odd = next((e for e, own in inputs.items() if own.key() != plan.evals[e].grading_key), None)
    if odd is not None:
        raise UserError(
            f"{run.folder / 'run.json'}: {odd} has another grading key than its inputs; restore it from Git"
        )
    return inputs


def _benchmark(
    name: str,
    asked: Sequence[Asked],
    commit: str | None,
    models: Sequence[str],
    inputs: Mapping[str, GradingInputs],
) -> Benchmark:
    any_of_them = next(iter(inputs.values()))
    evals = {
        e: BenchmarkEval(
            task_sha256=own.task_sha256,
            answer_sha256=own.answer_sha256,
            grader_sha256=own.grader_sha256,
            pipeline=own.pipeline,
            strict_types=own.strict_types,
            grading_key=own.key(),
        )
        for e, own in inputs.items()
    }
    experiments = {
        each.experiment: BenchmarkExperiment(
            id="0" * 64,
            guidelines=each.guidelines,
            guidelines_sha256=each.guidelines_sha256,
            prompt_sha256=each.prompt_sha256,
            settings_sha256=each.settings_sha256,
        )
        for each in asked
    }
    found = Benchmark(
        name=name,
        version="0" * 64,
        date=datetime.now(UTC).date().isoformat(),
        experiments=experiments,
        suite_commit=commit,
        grading_protocol=any_of_them.grading_protocol,
        backend=any_of_them.backend,
        typescript=any_of_them.typescript,
        lint_rules_sha256=any_of_them.lint_rules_sha256,
        models=tuple(dict.fromkeys(models)),
        evals=evals,
    )
    return found.with_ids()
