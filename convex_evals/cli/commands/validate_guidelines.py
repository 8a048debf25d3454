"""`cli validate-guidelines`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.cli.options import (
    containment_of,
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
from convex_evals.stats import CONFIRM_TRIALS, SCREEN_TRIALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.config import Workspace
    from convex_evals.guidelines.confirmation import Rounds
    from convex_evals.runs.plan import RunRequest
    from convex_evals.store.runs import Run


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
@click.pass_context
def validate_guidelines(
    ctx: click.Context,
    /,
    base: str,
    head: str | None,
    experiment: str,
    form: str,
    runs_dir: Path | None,
    fail_on_regression: bool,
    each_hunk: bool,
    **words: Any,
) -> int:
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
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.guidelines.revisions import parse_revisions, read_versions
    from convex_evals.guidelines.validate import Recipe

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    before, after = read_versions(workspace, experiment, parse_revisions(base, head))
    for version in (before, after):
        if version.text is None:
            raise UserError(f"{version.path}: not in {version.label}; name a revision that has it")
    rounds = _rounds(workspace, experiment, words)
    recipe = Recipe(
        rounds,
        agree=lambda lines, calls: _agree(lines, calls, words),
        do=lambda batches, fresh: _do(rounds, batches, fresh, words),
    )
    found = recipe.validate(before, after, words["models"], each_hunk=each_hunk)
    if found is None:
        return ExitCode.USER_ERROR
    show(form, found.to_data, found.to_markdown, found.to_text)
    return ExitCode.EVALS_FAILED if fail_on_regression and found.regressed else ExitCode.OK


def _rounds(workspace: Workspace, experiment: str, words: dict[str, Any]) -> Rounds:
    from convex_evals.guidelines.confirmation import Rounds
    from convex_evals.models.budget import Budget
    from convex_evals.runs.options import RunOptions
    from convex_evals.runs.request import make_resolver
    from convex_evals.store.runs import RunStore

    budget = Budget(words["budget"])
    return Rounds(
        workspace=workspace,
        store=RunStore(workspace.runs_dir),
        budget=budget,
        resolver=make_resolver(workspace, budget),
        experiment=experiment,
        options=RunOptions(pattern=words["pattern"], categories=words["categories"], trials=words["trials"]),
        again=words["again"],
    )


def _agree(lines: Sequence[str], calls: int, words: dict[str, Any]) -> None:
    """Ask before anything is paid. Raises `UserError` where nobody is there to be asked."""
    from convex_evals.errors import UserError

    for line in lines if calls else ():
        say(line, err=True)
    if not calls or words["yes"]:
        return
    if not on_terminal():
        raise UserError("nobody is here to agree to that; give -y, and --budget for a limit")
    if not click.confirm("Go on?", default=True, err=True):
        raise KeyboardInterrupt


def _do(
    rounds: Rounds, batches: Sequence[Sequence[RunRequest]], fresh: bool, words: dict[str, Any]
) -> Sequence[Run] | None:
    """The runs of all requests; None where one of them was not finished, which is told."""
    from convex_evals.runs.execute import carry_out

    containment = containment_of(words["sandbox"], words["unsafe_no_sandbox"])
    work = carry_out(rounds.workspace, rounds.store, containment, words["workers"], *batches, fresh=fresh)
    for line in work.stopped:
        complain(line)
    left = any(f.summary is None for f in work.done)
    if left and not work.stopped:
        complain("some trials have no verdict yet; the same command tries them again")
    return None if left or work.stopped else [f.run for f in work.done]
