"""The judge that a command line or a plan names: a model with a rubric."""

from __future__ import annotations

from convex_evals.config import Workspace
from convex_evals.models.solvers import SolverFactory
from convex_evals.runs.named_text import named_text
from convex_evals.sessions.opinions import MOST_OUTPUT, USUAL_RUBRIC, ModelJudge
from convex_evals.text import read_text


def make_judge(
    model: str, rubric: str | None, workspace: Workspace, solvers: SolverFactory, *, given: bool = True
) -> ModelJudge:
    """`rubric` is None for the usual one; `given` on the command line, else by a plan. Raises `UserError`."""
    if rubric is None:
        text = read_text(USUAL_RUBRIC)
    else:
        instead = "name another file with --rubric PATH, or leave it out for the usual one"
        text = named_text(rubric, workspace.suite, given=given, instead=instead)
    solver = solvers.model(model, web_search=False, extra={}, at_once=True)
    return ModelJudge(solver.briefer(MOST_OUTPUT), text, workspace.home)
