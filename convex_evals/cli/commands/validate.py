"""`cli validate`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    containment_of,
    containment_options,
    filter_options,
    json_option,
    suite_path,
    workers_option,
)
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.grading.case_results import BrokenEval, CaseResult
    from convex_evals.grading.cases import Case
    from convex_evals.grading.sandbox.choice import Containment
    from convex_evals.grading.validation import Validation
    from convex_evals.render.terminal import Display


@click.command()
@filter_options
@workers_option
@click.option("--wrong/--no-wrong", default=True, help="Grade the wrong/ projects too.  [default: wrong]")
@click.option("--foils/--no-foils", default=True, help="Grade an empty project, a package.json and another answer.")
@click.option("-p", "--project", metavar="REGEX", help="Only projects whose name (`wrong/NAME`) matches.")
@click.option("--repeat", type=click.IntRange(1, 100), default=1, metavar="N", help="Everything N times: all alike?")
@click.option("--grader-limit", type=click.FloatRange(0.1), metavar="SECONDS", help="No grader may take longer.")
@containment_options
@json_option
@click.pass_context
def validate(
    ctx: click.Context,
    pattern: str | None,
    categories: tuple[str, ...],
    workers: int | None,
    wrong: bool,
    foils: bool,
    project: str | None,
    repeat: int,
    grader_limit: float | None,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    as_json: bool,
) -> int:
    """Prove that the graders tell right from wrong.

    Grades every answer (must pass), every project under accept/ (must pass) and under wrong/ (must fail, at the
    step that its reason.txt names); and foils that no grader may let pass: an empty project, one with a
    package.json only, and the answer of another eval. Exit code 4 if anything is off, or not alike every time.

    \b
    Examples:
      cli validate
      cli validate -f pagination --no-wrong
      cli validate --repeat 5 --grader-limit 5
      cli validate -f crons -p wrong/public --repeat 10
      cli -C ../other-suite validate --json > validation.json
    """
    import asyncio
    import json
    from pathlib import Path

    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.grading.cases import cases_of, foils_of, matching
    from convex_evals.grading.validation import Validation, incomplete
    from convex_evals.render.terminal import Display
    from convex_evals.suite.suite import load_suite

    containment = containment_of(sandbox, unsafe_no_sandbox, reviewed=suite_path(ctx) is None)
    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    suite = load_suite(workspace.suite)
    evals = suite.select(pattern, categories)
    broken = incomplete(evals)
    whole = [e for e in evals if e not in [b.ev for b in broken]]
    cases = cases_of(whole, wrong=wrong) + (foils_of(whole, suite) if foils else [])
    if project:
        cases = matching(cases, project)
    results: list[CaseResult] = []
    interrupted = False
    with Display() as display:
        try:
            if cases:
                count = workers or workspace.workers
                asyncio.run(_grade(workspace, cases, repeat, count, containment, display, results, broken))
        except KeyboardInterrupt:
            interrupted = True
    order = {case: i for i, case in enumerate(dict.fromkeys(e.id for e in evals))}
    results.sort(key=lambda r: (r.repeat, order[r.case.ev.id]))
    if not results:
        if interrupted:
            raise KeyboardInterrupt
        raise UserError(broken[0].complaint)
    validation = Validation(tuple(results), tuple(broken), grader_limit)
    if as_json:
        say_json(json.dumps(validation.to_json(), indent=2))
    else:
        _print(validation)
    if interrupted:
        say(f"interrupted: {len(results)} gradings are counted above, the rest is not", err=True)
        return ExitCode.INTERRUPTED
    return ExitCode.OK if validation.is_clean else ExitCode.EVALS_FAILED


async def _grade(
    workspace: Workspace,
    cases: list[Case],
    repeats: int,
    workers: int,
    containment: Containment,
    display: Display,
    results: list[CaseResult],
    broken: list[BrokenEval],
) -> None:
    """Grade `cases`; `results` and `broken` are filled on the way, and keep what was known at an interruption."""
    from convex_evals.grading.setup import ready_service
    from convex_evals.grading.validation import unreadable, validate_cases

    def show(result: CaseResult) -> None:
        results.append(result)
        verdict = result.verdict
        note = result.complaint or (f"caught by {verdict.caught_by}" if verdict.caught_by else "")
        display.item("passed" if result.as_expected else "off", result.case.name, verdict.duration_ms / 1000, note)

    async with ready_service(
        workspace.suite, workspace.config, workers, display.preparing, display.warn, containment
    ) as service:
        broken += await unreadable(service, list(dict.fromkeys(c.ev for c in cases)))
        cases = [c for c in cases if c.ev not in [b.ev for b in broken]]
        display.start("validating projects", len(cases) * repeats)
        await validate_cases(service, cases, repeats, show)


def _print(validation: Validation) -> None:
    from convex_evals.grading.validation_table import validation_table

    say(validation_table(validation))
    say()
    for line in validation.complaints:
        say(f"off: {line}")
    if validation.is_clean:
        say("Everything is as it should be.")
