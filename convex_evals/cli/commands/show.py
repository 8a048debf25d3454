"""`cli show`"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.numbers import WholeNumber
from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.models import Item
    from convex_evals.records import Generation, Verdict
    from convex_evals.records.journal import JournalEntry
    from convex_evals.render.model import Row, Table
    from convex_evals.store.run import Run


@click.command()
@click.argument("run_name", metavar="RUN")
@click.argument("eval_id", metavar="[EVAL]", required=False)
@click.option("--trial", type=WholeNumber(1), metavar="N", help="Show this trial. Default: the first that failed.")
@click.option("--task", "sections", flag_value="task", multiple=True, help="Show the task.")
@click.option("--expected", "sections", flag_value="expected", multiple=True, help="Show the reference answer.")
@click.option("--response", "sections", flag_value="response", multiple=True, help="Show the files of the reply.")
@click.option(
    "--diff", "sections", flag_value="diff", multiple=True, help="Show the diff from the answer to the reply."
)
@click.option("--verdict", "sections", flag_value="verdict", multiple=True, help="Show steps and tests, with messages.")
@runs_dir_option
@output_option
@click.pass_context
def show(
    ctx: click.Context,
    run_name: str,
    eval_id: str | None,
    trial: int | None,
    sections: tuple[str, ...],
    runs_dir: Path | None,
    form: str,
) -> None:
    """Show a run, or one eval of it: task, reference answer, reply, their differences, steps and tests.

    RUN is a run's id or a prefix of it, its folder, or `last`. EVAL is an eval's id or a part of it. --task,
    --expected, --response, --diff and --verdict choose what is shown of an eval. Default: everything.

    \b
    Examples:
      cli show last
      cli show last 002-queries/000-index_range
      cli show last index_range --diff --verdict
      cli show last index_range --trial 2 --response
    """
    from convex_evals.analysis.trial import find_eval
    from convex_evals.config import open_workspace
    from convex_evals.store.journal import Journal
    from convex_evals.store.runs import RunStore

    if eval_id and form in ("markdown", "csv"):
        raise click.UsageError(f"--format {form} is for a whole run: leave out EVAL, or give --json")
    if eval_id is None and (trial or sections):
        raise click.UsageError("--trial, --task and similar options need an eval: `cli show RUN EVAL`")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    run = RunStore(workspace.runs_dir).find(run_name)
    if eval_id is None:
        _run(run, Journal(workspace.journal_dir, run.plan).of_unwritten(run), form)
    else:
        _eval(workspace, run, find_eval(run, eval_id), trial, sections, form == "json")


def _run(run: Run, journalled: Mapping[str, Sequence[JournalEntry]], form: str) -> None:
    from convex_evals.analysis.totals import category_table, run_to_data
    from convex_evals.render.model import Section, apart
    from convex_evals.runs.options import resume

    plan, summary = run.plan, run.summary()
    head = f"{plan.model}  {plan.experiment}  {plan.date}  {plan.run_id}{'  (synthetic)' if plan.synthetic else ''}"
    rest = category_table(summary) if summary else f"Not complete; `{resume(plan).command()}` resumes it."
    print_result(form, apart(Section.of(head, _trials(run, journalled)), rest), lambda: run_to_data(run, summary))


def _trials(run: Run, journalled: Mapping[str, Sequence[JournalEntry]]) -> Table:
    from convex_evals.render.model import Column, Table

    columns = [
        Column("eval", "eval", is_id=True),
        Column("trial", "trial", right=True),
        Column("outcome", "outcome"),
        Column("duration_ms", "time", right=True),
        Column(None, "why"),
        Column("caught_by", None),
        Column("reason", None),
    ]
    rows: list[Row] = []
    for eval_id in run.plan.evals:
        if run.is_written(eval_id):
            replies = run.generations(eval_id)
            rows += [_row(eval_id, t.verdict, replies[t.trial]) for t in run.grade(eval_id).trials]
            continue
        entries = journalled.get(eval_id, ())
        rows += [_row(eval_id, e.verdict, e.generation) for e in entries]
        asked = {e.generation.trial for e in entries}
        left = [n for n in range(1, run.plan.trials + 1) if n not in asked]
        rows += [[eval_id, n, "not done", None, None, None, None] for n in left]
    return Table.of(columns, rows)


def _row(eval_id: str, verdict: Verdict | None, generation: Generation) -> Row:
    """One trial that was asked for: how it ended, and the step, or the fault of the provider, that ended it."""
    from convex_evals.records import Outcome
    from convex_evals.render.model import Cell
    from convex_evals.render.verdicts import TONES, headline

    if verdict is None and generation.received:
        return [eval_id, generation.trial, "not graded", None, None, None, None]
    outcome = verdict.outcome if verdict else Outcome.UNSCORED
    took_ms = verdict.duration_ms if verdict else 0
    step = verdict.caught_by.value if verdict and verdict.caught_by else None
    reason = (verdict and verdict.reason) or generation.reason
    cause = step or generation.fault if outcome is not Outcome.PASSED else None
    known = cause or (outcome is Outcome.UNSCORED and "grading")
    return [
        eval_id,
        generation.trial,
        Cell(outcome.value, outcome.value, TONES[outcome]),
        Cell(f"{took_ms / 1000:.1f}s", took_ms),
        f"{known}: {headline(reason, 80)}" if known and reason else known or None,
        step,
        headline(reason) if known and reason else None,
    ]


def _eval(
    workspace: Workspace, run: Run, eval_id: str, number: int | None, sections: tuple[str, ...], as_json: bool
) -> None:
    from convex_evals.analysis.trial import (
        SECTIONS,
        eval_to_data,
        most_telling,
        read_source,
        read_trials,
    )
    from convex_evals.analysis.trial_text import trial_to_text
    from convex_evals.errors import UserError
    from convex_evals.records import dump_json
    from convex_evals.text import counted

    if not run.is_written(eval_id):
        raise UserError(
            f"{eval_id}: not done yet in this run; `cli show {run.plan.run_id}` says how far its trials are"
        )
    source = read_source(run, eval_id, _item(workspace, run, eval_id))
    trials = read_trials(run, eval_id)
    chosen = [t for t in trials if number in (None, t.number)]
    if not chosen:
        raise UserError(f"--trial {number}: {eval_id} has {counted(len(trials), 'trial')} in this run")
    wanted = sections or SECTIONS
    if as_json:
        say_json(dump_json(eval_to_data(run, eval_id, source, chosen, wanted)))
        return
    shown = most_telling(chosen)
    if len(wanted) > 1:
        others = "".join(f", #{t.number} {t.grade.verdict.outcome}" for t in trials if t is not shown)
        say(f"{eval_id} #{shown.number}: {shown.grade.verdict.outcome}{others}\n")
    for note in source.notes:
        say(f"note: {note}", err=True)
    say(trial_to_text(shown, source, wanted))


def _item(workspace: Workspace, run: Run, eval_id: str) -> Item | None:
    """What the run asked about, as it is now; None where it is gone."""
    from convex_evals.sessions.asking import AskedSessions
    from convex_evals.suite.suite import load_suite

    if run.plan.comparison:
        return AskedSessions(workspace.suite).find(eval_id)
    return next((ev for ev in load_suite(workspace.suite).evals if ev.id == eval_id), None)
