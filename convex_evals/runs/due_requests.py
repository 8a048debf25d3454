"""What `cli run --due` does: the requests for what is due, as far as a budget goes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from convex_evals.analysis.due import Due
from convex_evals.config import Workspace
from convex_evals.errors import NewerFormat, UserError, WrongFigures
from convex_evals.models.solvers import SolverFactory
from convex_evals.runs.costs import estimate
from convex_evals.runs.options import RunOptions
from convex_evals.runs.plan import RunRequest
from convex_evals.runs.request import Resolved, resolve
from convex_evals.runs.schedule import find_due, within
from convex_evals.store.batches import BatchFolder, has_batches
from convex_evals.store.run import Run, open_run
from convex_evals.store.runs import RunStore

_KEPT_S = 28 * 86_400  # Anthropic keeps results for 29 days, OpenAI for 30


def resolve_due(options: RunOptions, workspace: Workspace, solvers: SolverFactory) -> Resolved:
    """Resolve the runs that are due, the most needed first, after those whose batches go on. Raises `UserError`.

    What a run costs is what earlier ones did, else what its prompts usually cost.
    """
    leftovers = _leftovers(workspace, solvers)
    due = [each for each in find_due(workspace) if each.is_due]
    skipped: list[str] = []
    requests: dict[tuple[str, str], RunRequest] = {}
    for name in dict.fromkeys(each.asked.experiment for each in due):
        models = tuple(each.asked.model for each in due if each.asked.experiment == name)
        found = resolve(replace(options, due=False, models=models, experiments=(name,)), workspace, solvers)
        skipped += found.skipped
        requests |= {(request.solver.model, name): request for request in found.requests}
    able = [each for each in due if _key(each) in requests]
    chosen = within([(each, _cost(each, requests[_key(each)])) for each in able], options.budget)
    wanted = [*leftovers.requests, *(requests[_key(each)] for each in chosen.due)]
    return Resolved(wanted, [*leftovers.skipped, *skipped, *chosen.left_out])


def _leftovers(workspace: Workspace, solvers: SolverFactory) -> Resolved:
    """Resolve runs that earlier commands left while their batches went on."""
    found = Resolved([], [])
    for run in _left_behind(RunStore(workspace.runs_dir)):
        try:
            (request,) = resolve(RunOptions(runs=(str(run.folder),)), workspace, solvers).requests
        except UserError as error:
            found.skipped.append(f"skipped, though its batches go on: {error}")
        else:
            found.requests.append(replace(request, leftover=True))
    return found


def _left_behind(store: RunStore) -> Iterator[Run]:
    """Yield the incomplete runs whose batches go on. Of the others, which are nearly all, nothing is read."""
    for folder in store.folders():
        if has_batches(folder, store.root):
            try:
                run = open_run(folder)
                is_left = not run.is_complete and _goes_on(run)
            except (NewerFormat, WrongFigures):
                continue
            if is_left:
                yield run


def _goes_on(run: Run) -> bool:
    """Whether trials wait for batches whose results the provider still has."""
    folder = BatchFolder(run)
    files = folder.files()
    return bool(files) and files[0].age_s() < _KEPT_S and folder.pending() > 0


def _key(due: Due) -> tuple[str, str]:
    return due.asked.model, due.asked.experiment


def _cost(due: Due, request: RunRequest) -> float | None:
    return due.asked.cost_usd if due.asked.cost_usd is not None else estimate(request).usual_usd
