"""What `cli run --due` does: the requests for what is due, as far as a budget goes."""

from __future__ import annotations

from dataclasses import replace

from convex_evals.analysis.due import Due
from convex_evals.config import Workspace
from convex_evals.models.solvers import SolverFactory
from convex_evals.runs.costs import estimate
from convex_evals.runs.options import RunOptions
from convex_evals.runs.plan import RunRequest
from convex_evals.runs.request import Resolved, resolve
from convex_evals.runs.schedule import find_due, within


def resolve_due(options: RunOptions, workspace: Workspace, solvers: SolverFactory) -> Resolved:
    """The runs that are due, the most needed first. Raises `UserError`.

    What a run costs is what earlier ones did, else what its prompts usually cost.
    """
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
    return Resolved([requests[_key(each)] for each in chosen.due], [*skipped, *chosen.left_out])


def _key(due: Due) -> tuple[str, str]:
    return due.asked.model, due.asked.experiment


def _cost(due: Due, request: RunRequest) -> float | None:
    return due.asked.cost_usd if due.asked.cost_usd is not None else estimate(request).usual_usd
