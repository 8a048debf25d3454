"""`cli validate`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from convex_evals.commands.options import filter_options, json_option, suite_path, workers_option

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.display import Display
    from convex_evals.suite import Eval
    from convex_evals.validation import BrokenEval, CaseResult


@click.command()
@filter_options
@workers_option
@click.option("--wrong/--no-wrong", default=True, help="Grade the wrong/ projects too.  [default: wrong]")
@json_option
@click.pass_context
def validate(
    ctx: click.Context,
    pattern: str | None,
    categories: tuple[str, ...],
    workers: int | None,
    wrong: bool,
    as_json: bool,
) -> int:
    """Prove that the graders tell right from wrong.

    Grades every answer (must pass), every project under accept/ (must pass) and under wrong/ (must fail, at the
    step that its reason.txt names). Exit code 4 if anything is off.

    \b
    Examples:
      cli validate
      cli validate -f pagination --no-wrong
      cli -C ../other-suite validate --json > validation.json
    """
    import asyncio
    import json
    from pathlib import Path

    from convex_evals.config import open_workspace
    from convex_evals.display import Display
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.suite import load_suite

    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    evals = load_suite(workspace.suite).select(pattern, categories)
    with Display(quiet=as_json) as display:
        results, broken = asyncio.run(_grade(workspace, evals, wrong, workers or workspace.workers, display))
    if not results:
        raise UserError(broken[0].complaint)
    if as_json:
        click.echo(json.dumps([*(r.to_json() for r in results), *(b.to_json() for b in broken)], indent=2))
    else:
        _print_summary(results, broken)
    return ExitCode.OK if not broken and all(r.as_expected for r in results) else ExitCode.EVALS_FAILED


async def _grade(
    workspace: Workspace, evals: list[Eval], wrong: bool, workers: int, display: Display
) -> tuple[list[CaseResult], list[BrokenEval]]:
    from convex_evals.grade.setup import ready_grader
    from convex_evals.validation import cases_of, incomplete, unreadable, validate_cases

    def show(result: CaseResult) -> None:
        verdict = result.verdict
        note = result.complaint or (f"caught by {verdict.caught_by}" if verdict.caught_by else "")
        display.item("passed" if result.as_expected else "off", result.case.name, verdict.duration_ms / 1000, note)

    broken = incomplete(evals)
    whole = [e for e in evals if e not in [b.ev for b in broken]]
    if not whole:
        return [], broken
    cases = cases_of(whole, wrong=wrong)
    async with ready_grader(workspace.suite, workspace.config, workers, display.preparing, display.warn) as grader:
        broken += await unreadable(grader, whole)
        cases = [c for c in cases if c.ev not in [b.ev for b in broken]]
        display.start("validating projects", len(cases))
        return await validate_cases(grader, cases, show), broken


def _print_summary(results: list[CaseResult], broken: list[BrokenEval]) -> None:
    from convex_evals.display import printable

    groups = {
        "answers": [r for r in results if r.case.project.label == "answer"],
        "wrong": [r for r in results if not r.case.must_pass],
        "accept": [r for r in results if r.case.project.label.startswith("accept/")],
    }
    words = {"answers": "passed", "wrong": "caught", "accept": "passed"}
    for name, group in groups.items():
        if group:
            good = sum(r.as_expected for r in group)
            click.echo(f"{name:8} {good}/{len(group)} {words[name]} ({good / len(group):.0%})")
    off = [f"{r.case.name}: {r.complaint}" for r in results if not r.as_expected]
    for line in [*off, *(f"{b.ev.id}: cannot be graded: {b.complaint}" for b in broken)]:
        click.echo(printable(f"off: {line}"))
    if not off and not broken:
        click.echo("Everything is as it should be.")
