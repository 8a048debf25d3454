"""`cli regrade`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import (
    containment_of,
    containment_options,
    json_option,
    runs_dir_option,
    suite_path,
    workers_option,
)
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.grading.sandbox.choice import Containment
    from convex_evals.records import Verdict
    from convex_evals.render.terminal import Display
    from convex_evals.runs.regrade import Regrading
    from convex_evals.store.runs import Run


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@click.option("--since", metavar="REV", help="Only evals whose grader or answer changed since this Git revision.")
@click.option("--edited-tasks", is_flag=True, help="Also where TASK.txt was edited since: replies to another task.")
@click.option("--fail-on-change", is_flag=True, help="Exit with 4 where a verdict changed.")
@workers_option
@containment_options
@runs_dir_option
@json_option
@click.pass_context
def regrade(
    ctx: click.Context,
    names: tuple[str, ...],
    since: str | None,
    edited_tasks: bool,
    fail_on_change: bool,
    workers: int | None,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    runs_dir: Path | None,
    as_json: bool,
) -> int:
    """Grade stored replies again, with the graders of today. No model is asked.

    RUN is a run's id or the beginning of it, its folder, `last`, or a model's slug for all of its runs. Each verdict
    that changed is listed with what changed: grader, answer, lint rules, TypeScript, backend. A grade file is added
    beside the ones that are there, and summary.json names the one that counts. After an interruption the same
    command goes on.

    \b
    Examples:
      cli regrade last
      cli regrade anthropic/claude-sonnet-5 --since v1.2
      cli regrade default-1a2b3c4d --json --fail-on-change
    """
    import asyncio
    import json

    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.models.solvers import REVIEWED_MODELS
    from convex_evals.render.terminal import Display
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    runs = RunStore(workspace.runs_dir).find_all(names)
    reviewed = workspace.is_own and all(run.plan.model in REVIEWED_MODELS for run in runs)
    containment = containment_of(sandbox, unsafe_no_sandbox, reviewed=reviewed)
    with Display() as display:
        found = asyncio.run(_regrade(workspace, runs, since, edited_tasks, workers, containment, display))
    if as_json:
        say_json(json.dumps([r.to_data() for r in found], indent=2))
    else:
        say("\n\n".join(_report(r) for r in found))
    changed = any(r.changes for r in found)
    return ExitCode.EVALS_FAILED if fail_on_change and changed else ExitCode.OK


async def _regrade(
    workspace: Workspace,
    runs: list[Run],
    since: str | None,
    edited_tasks: bool,
    workers: int | None,
    containment: Containment,
    display: Display,
) -> list[Regrading]:
    from convex_evals.grading.setup import ready_service
    from convex_evals.runs.regrade import Regrader, look_at
    from convex_evals.store.journal import Journal
    from convex_evals.suite.suite import load_suite, refuse_incomplete
    from convex_evals.vcs.git import changed_since

    changed = changed_since(workspace.suite, since) if since else None
    wanted = {e for run in runs for e in run.plan.evals}
    evals = [e for e in load_suite(workspace.suite).evals if e.id in wanted]
    refuse_incomplete(evals)

    def show(run: Run, eval_id: str, trial: int, verdict: Verdict) -> None:
        name = f"{eval_id} #{trial}" if len(runs) == 1 else f"{run.plan.run_id} {eval_id} #{trial}"
        display.item(verdict.outcome.value, name, verdict.duration_ms / 1000)

    count = workers or workspace.workers
    async with ready_service(
        workspace.suite, workspace.config, count, display.preparing, display.warn, containment
    ) as service:
        today = await look_at(service, evals) if evals else None
        if today is None:
            return []
        only = None if changed is None else today.touched(changed)
        regrader = Regrader(service, today, show, edited_tasks, only)
        display.start("trials to grade", sum(run.plan.trials * len(regrader.to_do(run)[0]) for run in runs))
        journals = workspace.journal_dir
        return [await regrader.regrade(run, Journal(journals, run.plan, purpose=".regrade")) for run in runs]


def _report(found: Regrading) -> str:
    from convex_evals.render.results import category_table, headline, table

    plan = found.run.plan
    lines = [f"{plan.model}  {plan.experiment}  {plan.run_id}: {found.graded} trials graded"]
    rows = []
    for c in found.changes:
        words = [str(v.outcome) + (f" ({v.caught_by})" if v.caught_by else "") for v in (c.before, c.after)]
        rows.append([f"{c.eval_id} #{c.trial}", *words, ", ".join(c.why)])
    if rows:
        lines.append(table(["changed", "was", "is", "because of"], rows))
        lines += [f"{c.eval_id} #{c.trial}: {headline(c.after.reason)}" for c in found.changes if c.after.reason]
    else:
        lines.append("No verdict changed.")
    lines += [f"left out: {eval_id}: {why}" for eval_id, why in found.left_out.items()]
    if found.summary and found.changes:
        lines.append(category_table(found.summary))
    return "\n".join(lines)
