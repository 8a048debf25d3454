"""`cli regrade`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    GradingOptions,
    collect,
    containment_options,
    output_option,
    print_result,
    runs_dir_option,
    suite_path,
    workers_option,
)

if TYPE_CHECKING:
    from convex_evals.render.model import Row, Section
    from convex_evals.runs.regrade import Regrading


@dataclass(frozen=True)
class RegradeOptions:
    """Those of this command alone, and where runs are."""

    names: tuple[str, ...]
    since: str | None
    edited_tasks: bool
    fail_on_change: bool
    runs_dir: Path | None
    form: str


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@click.option("--since", metavar="REV", help="Only evals whose grader or answer changed since this Git revision.")
@click.option("--edited-tasks", is_flag=True, help="Also evals whose TASK.txt was edited: replies to another task.")
@click.option("--fail-on-change", is_flag=True, help="Exit with 4 if a verdict changed.")
@workers_option
@containment_options
@runs_dir_option
@output_option
@collect("options", RegradeOptions)
@collect("grading", GradingOptions)
@click.pass_context
def regrade(ctx: click.Context, options: RegradeOptions, grading: GradingOptions) -> int:
    """Grade stored replies again, with the current graders. No model is asked.

    RUN is a run's id or a prefix of it, its folder, `last`, or a model's slug for all of its runs. Each verdict that
    changed is listed with the cause: grader, answer, lint rules, TypeScript, backend. A grade file is added beside the
    existing ones, and summary.json names the one that counts. Repeat the command to resume
    after an interruption.

    \b
    Examples:
      cli regrade last
      cli regrade anthropic/claude-sonnet-5 --since v1.2
      cli regrade default-1a2b3c4d --json --fail-on-change
    """
    import asyncio

    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.render.model import apart
    from convex_evals.render.terminal import Display
    from convex_evals.runs.regrade import Scope, regrade_runs
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), options.runs_dir, Path.cwd())
    runs = RunStore(workspace.runs_dir).find_all(options.names)
    scope = Scope(options.since, options.edited_tasks)
    workers = grading.workers or workspace.workers
    with Display() as display:
        found = asyncio.run(regrade_runs(workspace, runs, scope, workers, grading.containment(), display))
    print_result(options.form, apart(*(_report(r) for r in found)), lambda: [r.to_data() for r in found])
    changed = any(r.changes for r in found)
    return ExitCode.EVALS_FAILED if options.fail_on_change and changed else ExitCode.OK


def _report(found: Regrading) -> Section:
    from convex_evals.analysis.totals import category_table
    from convex_evals.render.model import Column, Section, Table
    from convex_evals.render.verdicts import headline
    from convex_evals.text import counted

    plan = found.run.plan
    lines: list[str | Table] = [
        f"{plan.model}  {plan.experiment}  {plan.run_id}: {counted(found.graded, 'trial')} graded"
    ]
    rows: list[Row] = []
    for c in found.changes:
        words = [str(v.outcome) + (f" ({v.caught_by})" if v.caught_by else "") for v in (c.before, c.after)]
        rows.append([plan.run_id, f"{c.eval_id} #{c.trial}", c.eval_id, c.trial, *words, ", ".join(c.why)])
    columns = [
        Column("run_id", None),
        Column(None, "changed"),
        Column("eval", None),
        Column("trial", None),
        Column("was", "was"),
        Column("is", "is"),
        Column("because_of", "because of"),
    ]
    if rows:
        lines.append(Table.of(columns, rows))
        lines += [f"{c.eval_id} #{c.trial}: {headline(c.after.reason)}" for c in found.changes if c.after.reason]
    else:
        lines.append("No verdict changed.")
    lines += [f"left out: {eval_id}: {why}" for eval_id, why in found.left_out.items()]
    if found.summary and found.changes:
        lines.append(category_table(found.summary))
    return Section(tuple(lines))
