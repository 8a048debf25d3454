"""`cli validate`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.numbers import Number, WholeNumber
from convex_evals.cli.options import (
    GradingOptions,
    collect,
    containment_options,
    filter_options,
    output_option,
    print_result,
    suite_path,
    workers_option,
)
from convex_evals.render.formats import DEFAULT
from convex_evals.render.output import say

if TYPE_CHECKING:
    from convex_evals.grading.validation import Validation
    from convex_evals.render.model import Section


@dataclass(frozen=True)
class ValidateOptions:
    """Those of this command alone, and which evals."""

    patterns: tuple[str, ...]
    categories: tuple[str, ...]
    tags: tuple[str, ...]
    wrong: bool
    foils: bool
    project: str | None
    repeat: int
    since: str | None
    grader_limit: float | None  # seconds
    summary: Path | None
    form: str


@click.command()
@filter_options
@workers_option
@click.option("--wrong/--no-wrong", default=True, help="Grade the wrong/ projects too.  [default: wrong]")
@click.option(
    "--foils/--no-foils",
    default=True,
    help="Grade foils too: an empty project, a lone package.json, another eval's answer.",
)
@click.option("-p", "--project", metavar="REGEX", help="Only projects whose name (`wrong/NAME`) matches.")
@click.option(
    "--repeat",
    type=WholeNumber(1, 100),
    default=1,
    metavar="N",
    help="Grade everything N times, to find unstable verdicts.",
)
@click.option("--since", metavar="REV", help="Only evals that the checked-out branch changed since it left REV.")
@click.option("--grader-limit", type=Number(0.1), metavar="SECONDS", help="Report graders that take longer.")
@click.option(
    "--summary",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Also write the result as Markdown to FILE, for the page of a CI job.",
)
@containment_options
@output_option
@collect("options", ValidateOptions)
@collect("grading", GradingOptions)
@click.pass_context
def validate(ctx: click.Context, options: ValidateOptions, grading: GradingOptions) -> int:
    """Check that the graders tell right from wrong.

    Grades every answer (must pass), every project under accept/ (must pass) and under wrong/ (must fail, at the
    step that its reason.txt names), and foils that no grader may pass: an empty project, one with only a
    package.json, and the answer of another eval. Type-checks the graders, too, by the suite's tsconfig.json
    (not with -p). --since grades what a branch changed: evals with a changed file in their folder, and those whose
    grader imports one. Exit code 4 if a verdict is not as expected, or differs from one repetition to another, if a
    grader has a type error, and if an eval has no task or, without --no-wrong and -p, no wrong project.

    \b
    Examples:
      cli validate
      cli validate -f pagination -f crons --no-wrong
      cli validate --repeat 5 --grader-limit 5
      cli validate -f crons -p wrong/public --repeat 10
      cli validate --since origin/main --sandbox strict
      cli -C ../other-suite validate --json > validation.json
    """
    from convex_evals.config import open_workspace
    from convex_evals.grading.suite_validation import Choice, SuiteValidation
    from convex_evals.render.terminal import Display

    containment = grading.containment()
    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    choice = Choice(
        patterns=options.patterns,
        categories=options.categories,
        tags=options.tags,
        wrong=options.wrong,
        foils=options.foils,
        project=options.project,
        repeat=options.repeat,
        since=options.since,
    )
    with Display(off_later=options.form == DEFAULT) as display:
        work = SuiteValidation(workspace, choice, grading.workers or workspace.workers, containment, display)
        validation = work.validate(options.grader_limit)
    return _tell(validation, work.interrupted, options)


def _tell(validation: Validation, interrupted: bool, options: ValidateOptions) -> int:
    """Print it; the exit code."""
    from convex_evals.errors import ExitCode
    from convex_evals.text import counted

    section = _section(validation, options.since)
    print_result(options.form, section, validation.to_json)
    if options.summary:
        _write_summary(options.summary, section)
    if interrupted:
        gradings = counted(len(validation.results), "grading")
        say(f"interrupted: the results above are those of {gradings}", err=True)
        return ExitCode.INTERRUPTED
    return ExitCode.OK if validation.is_clean else ExitCode.EVALS_FAILED


def _write_summary(path: Path, section: Section) -> None:
    from convex_evals.render.markdown import to_markdown
    from convex_evals.store.files import write_atomic
    from convex_evals.text import JOINER, printable

    write_atomic(path, printable(to_markdown(section), keep=JOINER))


def _section(validation: Validation, since: str | None) -> Section:
    from convex_evals.grading.validation_table import validation_table
    from convex_evals.render.model import Section, apart

    if since is not None and validation.is_clean and not validation.results:
        return Section.of(f"No eval was changed since {since}.")
    lines = [f"off: {line}" for line in validation.complaints]
    if validation.is_clean:
        lines.append("All verdicts are as expected.")
    told = Section.of(*lines)
    return apart(validation_table(validation), told) if validation.results else told
