"""What `cli run` was asked for, resolved: models, experiments and evals to requests for runs."""

from __future__ import annotations

import json
import os
import re
import resource
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from convex_evals.config import Experiment, Workspace, is_secret, leads_elsewhere
from convex_evals.errors import UserError
from convex_evals.inputs.suite_files import is_there, read_inside
from convex_evals.models import Item, Solver
from convex_evals.models.budget import Budget
from convex_evals.models.catalog import load_catalog
from convex_evals.models.replay import DEMO_SLUG, ReplaySolver
from convex_evals.models.solvers import SolverFactory
from convex_evals.records import RunPlan
from convex_evals.records.hashes import sha256_text
from convex_evals.records.names import utc_now
from convex_evals.runs.named_text import guidelines_text, refuse_hidden
from convex_evals.runs.options import DEFAULT_EXPERIMENT, RunOptions
from convex_evals.runs.plan import Asked, RunRequest
from convex_evals.runs.shard import Shard
from convex_evals.store.run import Run
from convex_evals.store.runs import RunStore
from convex_evals.suite.prompt import SHIPPED, Prompt, PromptSource, guidelines_sha256
from convex_evals.suite.suite import Eval, load_suite, refuse_incomplete
from convex_evals.text import read_text
from convex_evals.vcs.git import clean_commit

_LONGEST_ENVIRONMENT = 64 * 1024  # bytes
_LONGEST_LINE = 4_096  # characters
_NOT_SECRET = frozenset(
    {
        *("AWS_ACCESS_KEY_ID", "AWS_REGION", "AWS_REGION_NAME", "AWS_DEFAULT_REGION", "AZURE_API_VERSION"),
        *("VERTEXAI_PROJECT", "VERTEXAI_LOCATION"),
    }
)


# What a stand-in is sent.
NOTHING = Asked(DEFAULT_EXPERIMENT, None, None, None, sha256_text("{}"))


@dataclass(frozen=True)
class Resolved:
    requests: list[RunRequest]
    skipped: list[str]  # lines: what was asked for and cannot be


def make_solvers(
    workspace: Workspace, budget: Budget, concurrency: int | None = None, timeout: float | None = None
) -> SolverFactory:
    """The models of `workspace`, with keys from its .env, and a budget that all of them share. Raises `UserError`."""
    load_environment(workspace.home)
    return SolverFactory(load_catalog(workspace.home), concurrency or workspace.config.concurrency, budget, timeout)


def make_resolver(
    workspace: Workspace, budget: Budget, concurrency: int | None = None, timeout: float | None = None
) -> Callable[[RunOptions], Resolved]:
    """`resolve` with the solvers of `make_solvers`."""
    solvers = make_solvers(workspace, budget, concurrency, timeout)
    return lambda options: resolve(options, workspace, solvers)


def resolve(options: RunOptions, workspace: Workspace, solvers: SolverFactory) -> Resolved:
    """The runs that `options` mean: planned ones (`--run`), or new ones. Raises `UserError` where one means nothing."""
    if options.runs:
        store = RunStore(workspace.runs_dir)
        planned = {run.folder: run for run in map(store.find, options.runs)}.values()
        model = next(iter(options.models), None)
        return Resolved([_resolve_planned(run, model, workspace, solvers) for run in planned], [])
    if options.sessions:
        from convex_evals.runs.session_requests import resolve_sessions

        return resolve_sessions(options, workspace, solvers)
    suite = load_suite(workspace.suite)
    evals = suite.select(options.patterns, options.categories, options.tags)
    return of_one_name(options, _resolve(options, evals, len(suite.evals), workspace, solvers))


def of_one_name(options: RunOptions, found: Resolved) -> Resolved:
    """Return `found`. Raises `UserError` where --run-id would name several runs."""
    if options.run_id and len(found.requests) > 1:
        raise UserError(f"--run-id {options.run_id}: names one run; give one model and one experiment")
    return found


def part_of(request: RunRequest, shard: Shard) -> RunRequest:
    """What `shard` does of `request`."""
    ids = shard.share(e.id for e in request.evals)
    evals = [e for e in request.evals if e.id in ids]
    return replace(request, evals=evals, prompts={e.id: request.prompts[e.id] for e in evals})


def _resolve_planned(run: Run, model: str | None, workspace: Workspace, solvers: SolverFactory) -> RunRequest:
    """What `run` planned; `model` names it as a command line does, where its slug does not say who answers.

    Raises `UserError` where that is no longer possible here.
    """
    plan = run.plan
    if plan.comparison:
        from convex_evals.runs.session_requests import resolve_planned_sessions

        return resolve_planned_sessions(run, plan.comparison, model, workspace, solvers)
    by_id = {e.id: e for e in load_suite(workspace.suite).evals}
    gone = [e for e in plan.evals if e not in by_id]
    if gone:
        raise UserError(f"{run.folder}: {gone[0]} is no longer in the suite; restore it from Git, or plan another run")
    if model is None and plan.model.startswith("replay/"):
        raise UserError(f"--run {plan.run_id}: replays recorded replies; say where they are with -m replay:PATH")
    options = options_of(plan, model, workspace)
    found = _resolve(options, [by_id[e] for e in plan.evals], len(by_id), workspace, solvers, recorded=True)
    return planned_request(run, model, found.requests)


def options_of(plan: RunPlan, model: str | None, workspace: Workspace) -> RunOptions:
    """What a command line says that means what `plan` does, besides its evals; `model` as it is named there."""
    own = workspace.config.experiments.get(plan.experiment)
    return RunOptions(
        models=(model or plan.model,),
        experiments=(plan.experiment,),
        trials=plan.trials,
        guidelines=plan.guidelines if own and plan.guidelines != own.guidelines else None,
        run_id=plan.run_id,
        day=plan.date,
    )


def planned_request(run: Run, model: str | None, requests: Sequence[RunRequest]) -> RunRequest:
    """The one of `requests` that does what `run` planned. Raises `UserError` where that is no longer possible."""
    plan = run.plan
    if len(requests) != 1 or requests[0].solver.model != plan.model:
        raise UserError(f"--run {plan.run_id}: was planned for {plan.model}, not for -m {model or plan.model}")
    return replace(requests[0], planned=run)


def _resolve(
    options: RunOptions,
    evals: Sequence[Eval],
    suite_evals: int,
    workspace: Workspace,
    solvers: SolverFactory,
    *,
    recorded: bool = False,
) -> Resolved:
    """`evals` are some of the `suite_evals` that there are.

    `recorded`: the guidelines are what a run's plan says, not what the user typed.
    """
    refuse_incomplete(evals)
    for name in options.experiments:
        workspace.config.experiment(name)  # a stand-in is under none, but a wrong name is a mistake all the same
    if options.guidelines is not None and not recorded:
        guidelines_text(options.guidelines, workspace.suite, given=True)  # refused where nothing would read it, too
    found = Resolved([], [])
    commit = clean_commit(workspace.suite)
    for name in dict.fromkeys(options.models):
        stand_in = solvers.synthetic(name)
        if stand_in is not None:
            chosen = _recorded(stand_in, evals, found.skipped)
            prompts = {e.id: Prompt("", e.task) for e in chosen}
            found.requests.append(make_request(options, stand_in, chosen, prompts, NOTHING, commit, suite_evals))
            continue
        for solver, source, asked in under_experiments(name, options, workspace, solvers, found.skipped, recorded):
            prompts = source.render_all({e.id: e.task for e in evals})
            found.requests.append(make_request(options, solver, evals, prompts, asked, commit, suite_evals))
    return replace(found, requests=without_repeated(found.requests))


def under_experiments(
    name: str, options: RunOptions, workspace: Workspace, solvers: SolverFactory, skipped: list[str], recorded: bool
) -> Iterator[tuple[Solver, PromptSource, Asked]]:
    """The model `name` under each experiment of `options`, or under the default one: what it is sent, and as what.

    `skipped` gets a line for each experiment that the model's provider cannot do. Raises `UserError`.
    """
    for experiment_name in dict.fromkeys(options.experiments or [DEFAULT_EXPERIMENT]):
        experiment = workspace.config.experiment(experiment_name)
        if experiment.web_search and not solvers.searches(name):
            skipped.append(f"{name}, {experiment_name}: skipped, its provider offers no web search for this model")
            continue
        solver = solvers.model(name, web_search=experiment.web_search, extra=experiment.parameters)
        where, source = _prompt_source(experiment, options.guidelines, workspace, recorded)
        yield solver, source, _asked(experiment_name, experiment, where, source)


def without_repeated(requests: Sequence[RunRequest]) -> list[RunRequest]:
    """Without those that mean the same: a model goes by more than one name."""
    by_key: dict[tuple[str, str, Path | None], RunRequest] = {}
    for request in requests:
        folder = request.solver.folder if isinstance(request.solver, ReplaySolver) else None
        by_key.setdefault((request.solver.model, request.asked.experiment, folder), request)
    return list(by_key.values())


def make_request(
    options: RunOptions,
    solver: Solver,
    evals: Sequence[Item],
    prompts: Mapping[str, Prompt],
    asked: Asked,
    commit: str | None,
    suite_evals: int | None = None,
) -> RunRequest:
    return RunRequest(
        solver=solver,
        evals=evals,
        prompts=prompts,
        trials=options.trials,
        asked=asked,
        run_id=options.run_id or f"{asked.experiment}-{secrets.token_hex(4)}",
        date=options.day or datetime.now(UTC).date().isoformat(),
        planned_at=None if options.day else utc_now(),
        suite_commit=commit,
        suite_evals=suite_evals,
        named=options.run_id is not None,
    )


def _recorded(solver: Solver, evals: Sequence[Eval], skipped: list[str]) -> Sequence[Eval]:
    """The evals that a stand-in has replies to."""
    if not isinstance(solver, ReplaySolver):
        return evals
    chosen = [e for e in evals if solver.has(e)]
    if not chosen:
        where = str(solver.folder)
        if solver.model == DEMO_SLUG:
            where = "the demo, which is for convex-evals' own evals and that of `cli init`; take -m reference instead"
        raise UserError(f"{solver.model}: no reply to any of these {len(evals)} evals in {where}")
    skipped += [line for e in chosen if (line := solver.mismatch(e))]
    if len(chosen) < len(evals):
        skipped.append(
            f"{solver.model}: {len(chosen)} of these {len(evals)} evals have a recorded reply, the rest are skipped"
        )
    return chosen


def _prompt_source(
    experiment: Experiment, guidelines: str | None, workspace: Workspace, recorded: bool
) -> tuple[str | None, PromptSource]:
    """Where guidelines come from (`guidelines` replaces the experiment's), and what the prompt is made of."""
    suite, path = workspace.suite, experiment.prompt
    ours = path == Experiment().prompt and not is_there(suite, path)
    where = experiment.guidelines and (guidelines or experiment.guidelines)
    typed = guidelines is not None and not recorded
    refuse_hidden(path)
    if where and not typed:
        refuse_hidden(where)
    template = read_text(SHIPPED) if ours else read_inside(suite, path)
    if where and recorded and not is_there(suite, where) and is_there(workspace.home, where):
        text: str | None = read_inside(workspace.home, where)  # what validate-guidelines made there
    else:
        text = guidelines_text(where, suite, given=typed) if where else None
    return where, PromptSource(template, str(SHIPPED if ours else suite / path), text)


def _asked(name: str, experiment: Experiment, guidelines: str | None, source: PromptSource) -> Asked:
    settings = {"web_search": experiment.web_search, "parameters": experiment.parameters}
    return Asked(
        experiment=name,
        guidelines=guidelines,
        guidelines_sha256=None if source.guidelines is None else guidelines_sha256(source.guidelines),
        prompt_sha256=sha256_text(source.template),
        settings_sha256=sha256_text(json.dumps(settings, sort_keys=True)),
    )


def asked_under(experiment_name: str, workspace: Workspace) -> Asked:
    """What an experiment sends, by its settings of now. Raises `UserError`."""
    experiment = workspace.config.experiment(experiment_name)
    return _asked(experiment_name, experiment, *_prompt_source(experiment, None, workspace, recorded=False))


def load_environment(folder: Path) -> None:
    """Keys of `folder`/.env that are not set already. Raises `UserError`.

    Keys are in memory from here on, so there is no core dump, and no child inherits them: they stand in `os.environ`,
    which libraries read, and not in the environment of the process itself.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    for name, value in _read_environment(folder / ".env").items():
        os.environ.setdefault(name, value)
    for name in filter(is_secret, os.environ):
        os.unsetenv(name)


def _read_environment(path: Path) -> dict[str, str]:
    """The keys of `.env`, and which account and region they are for. It may be a file of a pull request.

    Raises `UserError` for variables that say where requests go: what they lead elsewhere is the user's keys.
    """
    if not is_there(path.parent, path):
        return {}
    from dotenv import dotenv_values

    text = read_inside(path.parent, path, _LONGEST_ENVIRONMENT)
    # The time that a line takes grows with the square of its length.
    if long := next((n for n, line in enumerate(text.splitlines(), 1) if len(line) > _LONGEST_LINE), None):
        raise UserError(f"{path}:{long}: longer than {_LONGEST_LINE:,} characters; set that variable in your shell")
    # Without `${...}`, which would copy any variable under another name.
    values = dotenv_values(stream=StringIO(text), interpolate=False)
    for name, value in values.items():
        if leads_elsewhere(name):
            raise UserError(f"{path}: {name} controls where requests go; set it in your shell, .env is for keys")
        # Parts of addresses, all of them.
        if name in _NOT_SECRET and not re.fullmatch(r"[A-Za-z0-9-]+", value or ""):
            raise UserError(f"{path}: {name} is not the name of a region, project or version, like us-east-1")
    return {name: v for name, v in values.items() if v is not None and (is_secret(name) or name in _NOT_SECRET)}
