"""`cli validate-guidelines`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.invocation import only_option, request_options
from convex_evals.cli.numbers import Number, WholeNumber
from convex_evals.cli.options import (
    GradingOptions,
    collect,
    containment_options,
    delivery_options,
    filter_options,
    from_option,
    guidelines_experiment_option,
    on_terminal,
    open_delivery,
    output_option,
    print_result,
    read_names,
    runs_dir_option,
    suite_path,
    workers_option,
)
from convex_evals.render.formats import DEFAULT
from convex_evals.render.output import complain, say
from convex_evals.runs.options import RunOptions
from convex_evals.runs.stage import Stage
from convex_evals.stats import CONFIRM_TRIALS, SCREEN_TRIALS

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ValidateGuidelinesOptions:
    """Those of this command alone, which evals, and where runs are."""

    base: str
    head: str | None
    models: tuple[str, ...]
    patterns: tuple[str, ...]
    categories: tuple[str, ...]
    tags: tuple[str, ...]
    experiment: str
    trials: int
    again: int
    each_hunk: bool
    budget: float | None  # dollars
    concurrency: int | None
    timeout: float | None  # seconds
    dry_run: bool
    yes: bool
    only: Stage | None
    source: Path | None
    fail_on_regression: bool
    commit: bool
    push: bool
    form: str
    runs_dir: Path | None


@click.command("validate-guidelines")
@click.argument("base")
@click.argument("head", required=False)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    required=True,
    callback=read_names,
    metavar="MODEL",
    help="Model to run; several with commas, or repeated.",
)
@filter_options
@guidelines_experiment_option
@click.option(
    "--trials",
    type=WholeNumber(1, 100),
    default=SCREEN_TRIALS,
    show_default=True,
    metavar="N",
    help="Trials of the screening, per eval and side.",
)
@click.option(
    "--confirm",
    "again",
    type=WholeNumber(1, 100),
    default=CONFIRM_TRIALS,
    show_default=True,
    metavar="N",
    help="Rounds that confirm what flipped, with one new trial per eval and side.",
)
@click.option("--each-hunk", is_flag=True, help="Also judge each hunk of the change alone, on top of BASE.")
@click.option("--budget", type=Number(0), metavar="USD", help="Hard limit on spending.")
@request_options
@click.option("--dry-run", is_flag=True, help="Show what the screening would ask and cost; send no requests.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation before spending.")
@click.option("--fail-on-regression", is_flag=True, help="Exit with 4 if a model, or one eval, is confirmed worse.")
@only_option(*Stage)
@from_option
@delivery_options
@output_option
@workers_option
@containment_options
@runs_dir_option
@collect("options", ValidateGuidelinesOptions)
@collect("grading", GradingOptions)
@click.pass_context
def validate_guidelines(ctx: click.Context, options: ValidateGuidelinesOptions, grading: GradingOptions) -> int:
    """Decide whether a guideline change, from BASE to HEAD, helps models: screen, confirm what flipped, judge.

    All selected evals are run with both versions, unless such runs exist. Those that flipped are run again in several
    rounds, one after the other, with new replies, and these rounds alone decide. Where a change has no effect, one is
    reported at most once in twenty times.
    Calls and dollars are shown before they are spent. Repeat the command to resume after an interruption; nothing is
    paid for twice. BASE and HEAD are as for `cli diff-guidelines`, which shows the verdict from then on: it is a file,
    beside all runs of the validation, in one folder for each model, which no list of runs looks into. With `none` as
    BASE, the question is whether guidelines help at all.

    \b
    Examples:
      cli validate-guidelines HEAD -m claude-sonnet-5 -c queries --dry-run
      cli validate-guidelines HEAD -m claude-sonnet-5 -c queries
      cli validate-guidelines none HEAD -m claude-sonnet-5 --budget 20
      cli validate-guidelines main... -m gpt-5 -m claude-sonnet-5 --budget 20 -y --fail-on-regression
      cli validate-guidelines main... -m gpt-5 -f pagination -y --budget 5 --commit --push
      cli validate-guidelines HEAD~1 HEAD -m gpt-5 --trials 1 --confirm 8 --each-hunk
      cli validate-guidelines main... -m gpt-5 -y --budget 5 --only ask
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.guidelines.confirmation import make_rounds
    from convex_evals.guidelines.revisions import parse_revisions, read_versions
    from convex_evals.guidelines.validate import Recipe, RoundRunner
    from convex_evals.runs.collect import collect_validations, sources
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), options.runs_dir, Path.cwd())
    delivery = open_delivery(workspace.runs_dir, options.commit, options.push)
    if options.source:
        collect_validations(RunStore(workspace.runs_dir), sources(options.source))
    experiment = options.experiment
    before, after = read_versions(workspace, experiment, parse_revisions(options.base, options.head))
    screening = RunOptions(
        patterns=options.patterns,
        categories=options.categories,
        tags=options.tags,
        trials=options.trials,
        concurrency=options.concurrency,
        timeout=options.timeout,
    )
    rounds = make_rounds(workspace, experiment, screening, again=options.again, budget=options.budget)
    runner = RoundRunner(rounds, grading.containment(), grading.workers, complain, options.only)
    recipe = Recipe(rounds, lambda lines, calls: _agree(lines, calls, options), runner.do)
    try:
        found = recipe.validate(before, after, options.models, each_hunk=options.each_hunk)
    except _OnlyPriced:
        return ExitCode.OK
    if found is None:
        return runner.exit_code or (ExitCode.OK if runner.hands_over else ExitCode.INCOMPLETE)
    print_result(options.form, found.to_section(), found.to_data, found.to_markdown)
    for line in delivery.deliver_validations(found.written) if delivery else ():
        say(line, err=options.form != DEFAULT)
    return ExitCode.EVALS_FAILED if options.fail_on_regression and found.regressed else runner.exit_code


class _OnlyPriced(Exception):
    """Nothing more is done: the price is told, and that was all."""


def _agree(lines: Sequence[str], calls: int, options: ValidateGuidelinesOptions) -> None:
    """Ask before anything is spent. Raises `UserError` if there is no terminal to ask on."""
    from convex_evals.errors import UserError

    if options.dry_run:
        for line in lines:
            say(line)
        raise _OnlyPriced
    for line in lines if calls else ():
        say(line, err=True)
    if not calls or options.yes:
        return
    if not on_terminal():
        raise UserError("cannot ask for confirmation without a terminal; give -y, and --budget for a limit")
    if not click.confirm("Continue?", default=True, err=True):
        raise KeyboardInterrupt
