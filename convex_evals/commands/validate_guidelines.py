"""`cli validate-guidelines`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from convex_evals.commands.options import (
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
from convex_evals.stats import CONFIRM_TRIALS, SCREEN_TRIALS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from convex_evals.config import Workspace
    from convex_evals.diff_report import DiffReport
    from convex_evals.generate.budget import Budget
    from convex_evals.hunks import Hunk
    from convex_evals.plan import Request
    from convex_evals.revisions import Version
    from convex_evals.rounds import Answered, Question, Resolver, Rounds, Screened
    from convex_evals.store.runs import Run, RunStore
    from convex_evals.validation_report import ValidationReport


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
    help="New trials of what flipped, per eval and side.",
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

    All chosen evals are run with both versions, as far as runs are missing. Those that flipped are run again several
    times, with new replies, and these alone decide. Whatever is said for nothing is said at most once in twenty times.
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
    from convex_evals.revisions import parse_revisions, read_versions
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    before, after = read_versions(workspace, experiment, parse_revisions(base, head))
    for version in (before, after):
        if version.text is None:
            raise UserError(f"{version.path}: not in {version.label}; name a revision that has it")
    store = RunStore(workspace.runs_dir)
    if before.sha256 == after.sha256:
        from convex_evals.validation_report import ValidationReport

        diff = _diff(workspace, experiment, before, after, [])
        _print(ValidationReport(diff, words["trials"], words["again"], (), None), form)
        return ExitCode.OK
    rounds = _rounds(workspace, store, experiment, words)
    found = _validate(rounds, before, after, each_hunk, words)
    if found is None:
        return ExitCode.USER_ERROR
    _print(found, form)
    return ExitCode.EVALS_FAILED if fail_on_regression and found.regressed else ExitCode.OK


def _rounds(workspace: Workspace, store: RunStore, experiment: str, words: dict[str, Any]) -> Rounds:
    from convex_evals.generate.budget import Budget
    from convex_evals.order import load_environment
    from convex_evals.rounds import Rounds

    load_environment(workspace.home)
    budget = Budget(words["budget"])
    return Rounds(
        workspace=workspace,
        store=store,
        budget=budget,
        resolver=_resolver(workspace, budget),
        experiment=experiment,
        pattern=words["pattern"],
        categories=words["categories"],
        trials=words["trials"],
        again=words["again"],
    )


def _resolver(workspace: Workspace, budget: Budget) -> Resolver:
    from convex_evals.generate.answerers import Answerers
    from convex_evals.models import load_models
    from convex_evals.order import resolve

    answerers = Answerers(load_models([workspace.home, workspace.suite]), workspace.config.concurrency, budget)
    return lambda order: resolve(order, workspace, answerers)


def _second(rounds: Rounds) -> Rounds:
    """With what is left of the budget; answerers wait in one event loop, and the second round has its own."""
    from dataclasses import replace

    from convex_evals.generate.budget import Budget

    budget = Budget(rounds.budget.limit, rounds.budget.spent)
    return replace(rounds, budget=budget, resolver=_resolver(rounds.workspace, budget))


def _validate(
    rounds: Rounds, before: Version, after: Version, each_hunk: bool, words: dict[str, Any]
) -> ValidationReport | None:
    """Both rounds, and what came of them; None where one was not finished, which is told."""
    from dataclasses import replace

    from convex_evals.stats import together
    from convex_evals.validation_report import ValidationReport

    questions, hunks = _questions(rounds.workspace, before, after, each_hunk, words["models"])
    requests = rounds.screening(questions)
    price = rounds.price(list(requests.values()))
    sides = 2 * len(questions)
    _agree(
        [
            f"Screening: {price.words}",
            f"Then, of evals that flip: {2 * rounds.again} calls for each; "
            f"if all do, {rounds.most_again(list(requests.values()), sides).words}. It asks again before that.",
        ],
        price.calls,
        words,
    )
    runs = _run(rounds, list(requests.values()), words)
    if runs is None:
        return None
    by_side = dict(zip(requests, runs, strict=True))
    screened = [rounds.screened(question, by_side) for question in questions]
    answered = _confirm(_second(rounds), screened, words)
    if answered is None:
        return None
    parts = [[a for a in answered if (a.screened.question.hunk is None) == whole] for whole in (True, False)]
    judged = [
        [replace(a, confirmation=c) for a, c in zip(part, together([a.confirmation for a in part]), strict=True)]
        for part in parts
    ]
    diff = _diff(rounds.workspace, rounds.experiment, before, after, [s for s in screened if not s.question.hunk])
    return ValidationReport(diff, rounds.trials, rounds.again, judged[0], hunks, judged[1])


def _questions(
    workspace: Workspace, before: Version, after: Version, each_hunk: bool, models: Sequence[str]
) -> tuple[list[Question], list[Hunk] | None]:
    from convex_evals.hunks import hunks
    from convex_evals.rounds import Question

    names = list(dict.fromkeys(models))
    questions = [Question(name, before, after) for name in names]
    if not each_hunk:
        return questions, None
    found = hunks(before.text or "", after.text or "")
    for hunk in found if len(found) > 1 else ():
        version = _version(workspace, hunk, after)
        questions += [Question(name, before, version, hunk.number) for name in names]
    return questions, found


def _version(workspace: Workspace, hunk: Hunk, after: Version) -> Version:
    """A file with the hunk alone: runs name the file that they were given."""
    from convex_evals.revisions import Version
    from convex_evals.store.files import write_atomic
    from convex_evals.suite import sha256_text

    path = Path(".cache", "convex-evals", "hunks", f"{sha256_text(hunk.text)[:12]}.md")
    write_atomic(workspace.home / path, hunk.text)
    return Version(hunk.name, None, path.as_posix(), hunk.text, after.prompt)


def _confirm(rounds: Rounds, screened: Sequence[Screened], words: dict[str, Any]) -> list[Answered] | None:
    pairs = [rounds.confirming(one) for one in screened]
    requests = [request for pair in pairs if pair for request in pair]
    runs: list[Run] = []
    if requests:
        price = rounds.price(requests, fresh=True)
        flips = sum(len(one.flipped) for one in screened)
        _agree([f"Flipped, to be asked again: {flips} evals. {price.words}"], price.calls, words)
        done = _run(rounds, requests, words, fresh=True)
        if done is None:
            return None
        runs = done
    left = iter(runs)
    return [
        rounds.answered(one, (next(left), next(left)) if pair else None)
        for one, pair in zip(screened, pairs, strict=True)
    ]


def _agree(lines: Sequence[str], calls: int, words: dict[str, Any]) -> None:
    """Ask before anything is paid. Raises `UserError` where nobody is there to be asked."""
    from convex_evals.errors import UserError

    for line in lines if calls else ():
        click.echo(line, err=True)
    if not calls or words["yes"]:
        return
    if not on_terminal():
        raise UserError("nobody is here to agree to that; give -y, and --budget for a limit")
    if not click.confirm("Go on?", default=True, err=True):
        raise KeyboardInterrupt


def _run(
    rounds: Rounds, requests: Sequence[Request], words: dict[str, Any], *, fresh: bool = False
) -> list[Run] | None:
    """The runs of `requests`; None where one of them was not finished, which is told."""
    import asyncio

    from convex_evals.display import Display
    from convex_evals.work import Work

    containment = containment_of(words["sandbox"], words["unsafe_no_sandbox"])
    with Display() as display:
        work = Work(rounds.workspace, rounds.store, display, containment, workers=words["workers"], fresh=fresh)
        try:
            asyncio.run(work.do(requests))
        except KeyboardInterrupt:
            display.warn("stopped; the same command goes on where it was")
            raise
    for line in work.stopped:
        click.echo(f"error: {line}", err=True)
    left = sum(f.summary is None for f in work.done)
    if left and not work.stopped:
        click.echo("error: some trials have no verdict yet; the same command tries them again", err=True)
    return None if left or work.stopped else [f.run for f in work.done]


def _diff(
    workspace: Workspace, experiment: str, before: Version, after: Version, screened: Sequence[Screened]
) -> DiffReport:
    """The change, with what its rules' evals did in the screening."""
    from convex_evals.diff_report import DiffReport
    from convex_evals.effect import Effect, ModelEffect
    from convex_evals.guideline_diff import diff_guidelines
    from convex_evals.suite import load_suite
    from convex_evals.tokens import offline_counter

    effects = tuple(ModelEffect(s.model, s.comparison, s.comparison.paired) for s in screened)
    return DiffReport(
        experiment=experiment,
        before=before,
        after=after,
        diff=diff_guidelines(before.text or "", after.text or ""),
        counter=offline_counter(),
        effect=Effect(effects, ()),
        gaps=(),
        suite_evals=[e.id for e in load_suite(workspace.suite).evals],
    )


def _print(report: ValidationReport, form: str) -> None:
    from convex_evals.results import printable

    show(form, report.to_data, report.to_markdown, lambda: printable(report.to_text()))
