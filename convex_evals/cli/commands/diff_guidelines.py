"""`cli diff-guidelines`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.numbers import Number
from convex_evals.cli.options import (
    GradingOptions,
    collect,
    containment_options,
    guidelines_experiment_option,
    output_option,
    print_result,
    read_names,
    runs_dir_option,
    site_address,
    suite_path,
    workers_option,
)
from convex_evals.render.output import complain
from convex_evals.runs.options import RunOptions

if TYPE_CHECKING:
    from convex_evals.guidelines.diff_report import DiffReport


@dataclass(frozen=True)
class DiffGuidelinesOptions:
    """Those of this command alone, and where runs are."""

    base: str
    head: str | None
    models: tuple[str, ...]
    experiment: str
    fail_on_regression: bool
    run_missing: bool
    budget: float | None  # dollars
    pages: str | None
    form: str
    runs_dir: Path | None


@click.command("diff-guidelines")
@click.argument("base")
@click.argument("head", required=False)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    callback=read_names,
    metavar="MODEL",
    help="Only this model; several with commas, or repeated.",
)
@guidelines_experiment_option
@click.option(
    "--fail-on-regression", is_flag=True, help="Exit with 4 if a model regressed, or an eval of a validated one."
)
@click.option("--run", "run_missing", is_flag=True, help="Run what is missing on either side, then compare.")
@click.option("--budget", type=Number(0), metavar="USD", help="With --run: hard limit on spending.")
@click.option(
    "--pages",
    metavar="URL",
    callback=site_address,
    help="With --format markdown: link to the pages that `cli site` wrote and that stand there.",
)
@output_option
@workers_option
@containment_options
@runs_dir_option
@collect("options", DiffGuidelinesOptions)
@collect("grading", GradingOptions)
@click.pass_context
def diff_guidelines(ctx: click.Context, options: DiffGuidelinesOptions, grading: GradingOptions) -> int:
    """Show what changed in the guidelines from BASE to HEAD, and how that affected each model.

    BASE and HEAD are Git revisions; HEAD defaults to the working tree. `main...` is the commit where this branch left
    main, `none` is no guidelines at all. Nothing is checked out. A run belongs to the guidelines whose hash it
    recorded. If a side has no runs, the command that makes them is shown, with its cost. What `cli validate-guidelines`
    confirmed of the same change comes first; where it was not validated, the command that does so on the evals that the
    changed rules name is shown.

    \b
    Examples:
      cli diff-guidelines HEAD~1
      cli diff-guidelines none HEAD
      cli diff-guidelines main... -m claude-sonnet-5 --fail-on-regression
      cli diff-guidelines v1.2 v1.3 --format markdown --pages https://example.org/evals/
      cli diff-guidelines HEAD --run --budget 5
    """
    if options.pages and options.form != "markdown":
        raise click.UsageError("--pages: only with --format markdown")
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.guidelines.compare import VersionComparison
    from convex_evals.guidelines.revisions import parse_revisions

    suite = suite_path(ctx)
    workspace = open_workspace(suite, options.runs_dir, Path.cwd())
    revisions = parse_revisions(options.base, options.head)
    where = RunOptions(suite=suite, runs_dir=options.runs_dir)
    comparison = VersionComparison(workspace, revisions, options.experiment, options.models, options.budget, where)
    report = comparison.report()
    work = comparison.run_missing(report, grading.containment(), grading.workers) if options.run_missing else None
    if options.run_missing:
        for kind, line in work.complaints if work else ():
            complain(line, kind)
        if report.gaps:
            report = comparison.report()
    _print(report, options)
    regressed = options.fail_on_regression and report.regressed
    return (work and work.exit_code) or (ExitCode.EVALS_FAILED if regressed else ExitCode.OK)


def _print(report: DiffReport, options: DiffGuidelinesOptions) -> None:
    from convex_evals.guidelines.diff_markdown import to_markdown
    from convex_evals.guidelines.diff_terminal import to_section

    def markdown() -> str:
        from convex_evals.site.published import page_links

        return to_markdown(report, page_links(options.pages) if options.pages else None)

    print_result(options.form, to_section(report), report.to_data, markdown)
