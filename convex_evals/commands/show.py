"""`cli show`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.commands.options import json_option, runs_dir_option, suite_path

if TYPE_CHECKING:
    from convex_evals.store.runs import Run


@click.command()
@click.argument("run_name", metavar="RUN")
@click.argument("eval_id", metavar="[EVAL]", required=False)
@runs_dir_option
@json_option
@click.pass_context
def show(ctx: click.Context, run_name: str, eval_id: str | None, runs_dir: Path | None, as_json: bool) -> None:
    """Show a run, or one eval of it: steps, tests and what failed.

    RUN is a run's id or the beginning of it, its folder, or `last`. EVAL is an eval's id or a part of it.

    \b
    Examples:
      cli show last
      cli show last 002-queries/000-index_range
    """
    from convex_evals.config import open_workspace
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    run = RunStore(workspace.runs_dir).find(run_name)
    if eval_id is None:
        _run(run, as_json)
    else:
        _eval(run, _find(run, eval_id), as_json)


def _find(run: Run, part: str) -> str:
    from convex_evals.errors import UserError

    found = [part] if part in run.plan.evals else [e for e in run.plan.evals if part in e]
    if len(found) == 1:
        return found[0]
    what = f"fits {len(found)} evals: {', '.join(found[:5])}" if found else "no such eval in this run"
    raise UserError(f"{part}: {what}; `cli show {run.plan.run_id}` lists them")


def _run(run: Run, as_json: bool) -> None:
    from convex_evals.display import printable
    from convex_evals.results import category_table, headline, run_to_json, table

    summary = run.summary()
    if as_json:
        click.echo(run_to_json(run, summary), nl=False)
        return
    plan = run.plan
    click.echo(
        f"{plan.model}  {plan.experiment}  {plan.date}  {plan.run_id}{'  (synthetic)' if plan.synthetic else ''}"
    )
    rows = []
    for eval_id in plan.evals:
        if not run.is_written(eval_id):
            rows.append([eval_id, "not done", "", ""])
            continue
        for t in run.grade(eval_id).trials:
            verdict = t.verdict
            where = f"{verdict.caught_by}: {headline(verdict.reason, 80)}" if verdict.caught_by else ""
            rows.append([eval_id, verdict.outcome.value, f"{verdict.duration_ms / 1000:.1f}s", printable(where)])
    click.echo(table(["eval", "outcome", "time", "caught by"], rows))
    if summary:
        click.echo("\n" + category_table(summary))
    else:
        click.echo("\nNot complete; the `cli run` command that began it goes on with it.")


def _eval(run: Run, eval_id: str, as_json: bool) -> None:
    from convex_evals.display import printable
    from convex_evals.errors import UserError
    from convex_evals.results import verdict_text

    if not run.is_written(eval_id):
        raise UserError(f"{eval_id}: not done yet in this run")
    grade = run.grade(eval_id)
    if as_json:
        click.echo(grade.to_json(), nl=False)
        return
    for t in grade.trials:
        click.echo(f"{eval_id} #{t.trial}: {t.verdict.outcome}")
        click.echo(printable(verdict_text(t.verdict)))
        response = run.eval_folder(eval_id) / f"{t.trial}.md"
        where = response if response.is_file() or not run.pruned else f"pruned on {run.pruned.date}"
        click.echo(f"  response: {where}")
