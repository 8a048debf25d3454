"""`cli validate-guidelines`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    GradingOptions,
    collect,
    containment_options,
    filter_options,
    format_option,
    on_terminal,
    runs_dir_option,
    show,
    suite_path,
    workers_option,
)
from convex_evals.render.output import complain, say
from convex_evals.runs.options import RunOptions
from convex_evals.stats import CONFIRM_TRIALS, SCREEN_TRIALS

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Options:
    """Those of this command alone, which evals, and where runs are."""

    base: str
    head: str | None
    models: tuple[str, ...]
    pattern: str | None
    categories: tuple[str, ...]
    experiment: str
    trials: int
    again: int
    each_hunk: bool
    budget: float | None  # dollars
    yes: bool
    fail_on_regression: bool
    form: str
    runs_dir: Path | None


@click.command("validate-guidelines")
@click.argument("base")
@click.argument("head", required=False)
@click.option("-m", "--model", "models", multiple=True, required=True, metavar="MODEL", help="Who answers; repeatable.")
@filter_options
@click.option("-e", "--experiment", default="default", show_default=True, metavar="NAME", help="Whose guidelines.")
@click.option(
    "--trials",
    type=click.IntRange(1, 100),
    default=SCREEN_TRIALS,
    show_default=True,
    metavar="N",
    help="Of the screening, per eval and side.",
)
@click.option(
    "--confirm",
    "again",
    type=click.IntRange(1, 100),
    default=CONFIRM_TRIALS,
    show_default=True,
    metavar="N",
    help="Rounds of new trials of what flipped, one trial per eval and side.",
)
@click.option("--each-hunk", is_flag=True, help="Also each changed place alone on top of BASE.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Spend no more, whatever happens.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before anything is paid.")
@click.option("--fail-on-regression", is_flag=True, help="Exit with 4 where a model, or one eval, regressed.")
@format_option
@workers_option
@containment_options
@runs_dir_option
@collect("options", Options)
@collect("grading", GradingOptions)
@click.pass_context
def validate_guidelines(ctx: click.Context, options: Options, grading: GradingOptions) -> int:
    """Tell what a change of guidelines, from BASE to HEAD, does to models: screen, ask again what flipped, judge.

    All chosen evals are run with both versions, as far as runs are missing. Those that flipped are run again in several
    rounds, one after the other, with new replies, and these alone decide. Whatever is said for nothing is said at most
    once in twenty times.
    Calls and dollars are shown before they are spent. The same command again goes on where it was interrupted, and pays
    for nothing twice. BASE and HEAD are as for `cli diff-guidelines`.

    \b
    Examples:
      cli validate-guidelines HEAD -m claude-sonnet-5 -c queries
      cli validate-guidelines main... -m gpt-5 -m claude-sonnet-5 --budget 20 -y --fail-on-regression
      cli validate-guidelines HEAD~1 HEAD -m gpt-5 --trials 1 --confirm 8 --each-hunk
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.guidelines.confirmation import make_rounds
    from convex_evals.guidelines.revisions import parse_revisions, read_versions
    from convex_evals.guidelines.validate import Recipe, Worker

    workspace = open_workspace(suite_path(ctx), options.runs_dir, Path.cwd())
    experiment = options.experiment
    before, after = read_versions(workspace, experiment, parse_revisions(options.base, options.head))
    screening = RunOptions(pattern=options.pattern, categories=options.categories, trials=options.trials)
    rounds = make_rounds(workspace, experiment, screening, again=options.again, budget=options.budget)
    worker = Worker(rounds, grading.containment(), grading.workers, complain)
    recipe = Recipe(rounds, lambda lines, calls: _agree(lines, calls, options.yes), worker.do)
    found = recipe.validate(before, after, options.models, each_hunk=options.each_hunk)
    if found is None:
        return ExitCode.USER_ERROR
    show(options.form, found.to_data, found.to_markdown, found.to_text)
    return ExitCode.EVALS_FAILED if options.fail_on_regression and found.regressed else ExitCode.OK


def _agree(lines: Sequence[str], calls: int, yes: bool) -> None:
    """Ask before anything is paid. Raises `UserError` where nobody is there to be asked."""
    from convex_evals.errors import UserError

    for line in lines if calls else ():
        say(line, err=True)
    if not calls or yes:
        return
    if not on_terminal():
        raise UserError("nobody is here to agree to that; give -y, and --budget for a limit")
    if not click.confirm("Go on?", default=True, err=True):
        raise KeyboardInterrupt
