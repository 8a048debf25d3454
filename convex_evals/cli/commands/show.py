"""`cli show`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.models import Item
    from convex_evals.render.model import Row, Table
    from convex_evals.store.run import Run


@click.command()
@click.argument("run_name", metavar="RUN")
@click.argument("eval_id", metavar="[EVAL]", required=False)
@click.option("--trial", type=click.IntRange(1), metavar="N", help="Show this trial. Default: the first that failed.")
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
    from convex_evals.store.runs import RunStore

    if eval_id and form in ("markdown", "csv"):
        raise click.UsageError(f"--format {form} is for a whole run: leave out EVAL, or give --json")
    if eval_id is None and (trial or sections):
        raise click.UsageError("--trial, --task and similar options need an eval: `cli show RUN EVAL`")
    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    run = RunStore(workspace.runs_dir).find(run_name)
    if eval_id is None:
        _run(run, form)
    else:
        _eval(workspace, run, find_eval(run, eval_id), trial, sections, form == "json")


def _run(run: Run, form: str) -> None:
    from convex_evals.analysis.totals import category_table, run_to_data
    from convex_evals.render.model import Section, apart
    from convex_evals.runs.options import resume

    plan, summary = run.plan, run.summary()
    head = f"{plan.model}  {plan.experiment}  {plan.date}  {plan.run_id}{'  (synthetic)' if plan.synthetic else ''}"
    rest = category_table(summary) if summary else f"Not complete; `{resume(plan).command()}` resumes it."
    print_result(form, apart(Section.of(head, _trials(run)), rest), lambda: run_to_data(run, summary))


def _trials(run: Run) -> Table:
    from convex_evals.render.model import Cell, Column, Table
    from convex_evals.render.verdicts import TONES, headline

    columns = [
        Column("eval", "eval", is_id=True),
        Column("trial", "trial", right=True),
        Column("outcome", "outcome", right=True),
        Column("duration_ms", "time", right=True),
        Column(None, "caught by", right=True),
        Column("caught_by", None),
        Column("reason", None),
    ]
    rows: list[Row] = []
    for eval_id in run.plan.evals:
        if not run.is_written(eval_id):
            rows.append([eval_id, None, "not done", None, None, None, None])
            continue
        for t in run.grade(eval_id).trials:
            verdict = t.verdict
            outcome = Cell(verdict.outcome.value, verdict.outcome.value, TONES[verdict.outcome])
            time = Cell(f"{verdict.duration_ms / 1000:.1f}s", verdict.duration_ms)
            where, step = None, verdict.caught_by.value if verdict.caught_by else None
            if step:
                where = f"{step}: {headline(verdict.reason, 80)}"
            rows.append([eval_id, t.trial, outcome, time, where, step, headline(verdict.reason) if step else None])
    return Table.of(columns, rows)


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
        raise UserError(f"{eval_id}: not done yet in this run")
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
