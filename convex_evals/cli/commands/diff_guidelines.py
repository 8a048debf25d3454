"""`cli diff-guidelines`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.options import (
    containment_of,
    containment_options,
    format_option,
    runs_dir_option,
    show,
    suite_path,
    workers_option,
)
from convex_evals.render.output import complain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.config import Workspace
    from convex_evals.guidelines.diff_report import DiffReport
    from convex_evals.guidelines.missing_runs import Gap
    from convex_evals.guidelines.revisions import Revisions
    from convex_evals.store.runs import RunStore


@click.command("diff-guidelines")
@click.argument("base")
@click.argument("head", required=False)
@click.option("-m", "--model", "models", multiple=True, metavar="MODEL", help="Only this model; repeatable.")
@click.option("-e", "--experiment", default="default", show_default=True, metavar="NAME", help="Whose guidelines.")
@click.option("--fail-on-regression", is_flag=True, help="Exit with 4 where a model regressed.")
@click.option("--run", "run_missing", is_flag=True, help="Run what is missing on either side, then compare.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="With --run: spend no more.")
@format_option
@workers_option
@containment_options
@runs_dir_option
@click.pass_context
def diff_guidelines(
    ctx: click.Context,
    /,
    base: str,
    head: str | None,
    models: tuple[str, ...],
    experiment: str,
    fail_on_regression: bool,
    run_missing: bool,
    form: str,
    runs_dir: Path | None,
    **words: Any,
) -> int:
    """Show what changed in the guidelines from BASE to HEAD, and what that did to each model.

    BASE and HEAD are revisions of Git in any spelling; without HEAD it is the working tree. `main...` is where this
    branch left main. Nothing is checked out. A run belongs to the guidelines whose hash it recorded. Where a side has
    no runs, the command that makes them is shown, with its price.

    \b
    Examples:
      cli diff-guidelines HEAD~1
      cli diff-guidelines main... -m claude-sonnet-5 --fail-on-regression
      cli diff-guidelines v1.2 v1.3 --format markdown
      cli diff-guidelines HEAD --run --budget 5
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.guidelines.revisions import parse_revisions
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir)
    revisions = parse_revisions(base, head)
    slugs = _slugs(models, workspace, store)
    report = _report(ctx, workspace, store, revisions, experiment, slugs, words["budget"])
    status: int = ExitCode.OK
    if run_missing and report.hint:
        raise UserError("--run: no model has runs with either version; name models with -m")
    if run_missing and report.gaps:
        status = _run(report.gaps, workspace, store, words)
        report = _report(ctx, workspace, store, revisions, experiment, slugs, words["budget"])
    _print(report, form)
    if status == ExitCode.OK and fail_on_regression and report.effect.regressed:
        return ExitCode.EVALS_FAILED
    return status


def _slugs(names: Sequence[str], workspace: Workspace, store: RunStore) -> list[str] | None:
    from convex_evals.models.catalog import find_slug, load_models

    if not names:
        return None
    known = [m.slug for m in load_models(workspace.home)]
    return [find_slug(name, [*known, *store.models()], "`cli models list` shows what is there") for name in names]


def _report(
    ctx: click.Context,
    workspace: Workspace,
    store: RunStore,
    revisions: Revisions,
    experiment: str,
    models: Sequence[str] | None,
    budget: float | None,
) -> DiffReport:
    from convex_evals.guidelines.diff import diff_guidelines as diff
    from convex_evals.guidelines.diff_report import DiffReport
    from convex_evals.guidelines.effect import measure
    from convex_evals.guidelines.revisions import read_versions
    from convex_evals.models.tokens import offline_counter
    from convex_evals.suite.suite import load_suite

    before, after = read_versions(workspace, experiment, revisions)
    evals = [e.id for e in load_suite(workspace.suite).evals]
    effect = measure(store, before, after, experiment, models)
    return DiffReport(
        experiment=experiment,
        before=before,
        after=after,
        diff=diff(before.text or "", after.text or ""),
        counter=offline_counter(),
        effect=effect,
        gaps=_gaps(ctx, workspace, effect.lacks, experiment, evals, budget) if effect.lacks else (),
        suite_evals=evals,
    )


def _gaps(
    ctx: click.Context,
    workspace: Workspace,
    lacks: Sequence[Any],
    experiment: str,
    evals: Sequence[str],
    budget: float | None,
) -> Sequence[Gap]:
    from convex_evals.guidelines.missing_runs import find_gaps
    from convex_evals.models.budget import Budget
    from convex_evals.runs.options import RunOptions
    from convex_evals.runs.request import make_resolver

    resolver = make_resolver(workspace, Budget(budget))
    where = RunOptions(suite=suite_path(ctx), runs_dir=ctx.params["runs_dir"])
    return find_gaps(lacks, experiment, workspace, evals, resolver, where)


def _run(gaps: Sequence[Gap], workspace: Workspace, store: RunStore, words: dict[str, Any]) -> int:
    """Do what is missing. Raises `UserError` where a part of it cannot be done."""
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.runs.execute import carry_out

    problem = next((line for gap in gaps for line in gap.problems), None)
    if problem:
        raise UserError(problem)
    containment = containment_of(words["sandbox"], words["unsafe_no_sandbox"])
    requests = [request for gap in gaps for request in gap.requests]
    work = carry_out(workspace, store, containment, words["workers"], requests)
    for line in work.stopped:
        complain(line)
    return ExitCode.USER_ERROR if work.stopped else ExitCode.OK


def _print(report: DiffReport, form: str) -> None:
    from convex_evals.guidelines.diff_markdown import to_markdown
    from convex_evals.guidelines.diff_terminal import to_text

    show(form, report.to_data, lambda: to_markdown(report), lambda: to_text(report))
