"""`cli report`"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import json_option, runs_dir_option, suite_path
from convex_evals.render.output import complain, say, say_json, say_markdown

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.models.retries import ModelSolver
    from convex_evals.reports.files import ExistingReport, Folder
    from convex_evals.reports.model import Report
    from convex_evals.reports.sources import Sources
    from convex_evals.store.runs import Run

_QUIET_SECONDS = 2.0


@click.command()
@click.argument("run_names", metavar="RUN...", nargs=-1)
@click.option("--analyze", metavar="MODEL", help="Ask this model whose fault those failures are that nobody decided.")
@click.option(
    "--budget", type=click.FloatRange(min=0, min_open=True), metavar="USD", help="The most that --analyze may cost."
)
@click.option("--index", is_flag=True, help="Write reports/README.md, a list of all reports.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Print the report; write nothing.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write one report here. Default: reports/PROVIDER/MODEL/RUN_DATE.md.",
)
@runs_dir_option
@json_option
@click.pass_context
def report(
    ctx: click.Context,
    run_names: tuple[str, ...],
    analyze: str | None,
    budget: float | None,
    index: bool,
    to_stdout: bool,
    output: Path | None,
    runs_dir: Path | None,
    as_json: bool,
) -> None:
    """Write a report for review: what failed and why, whose fault it is, and what that means for the pass rate.

    RUN is a run's id or the beginning of it, its folder, `last`, or a model's slug for all of its runs. What people
    write in the marked places of a report stays as it is when the report is made again, and feeds later proposals.
    --json and --stdout print, and write nothing.

    \b
    Examples:
      cli report last
      cli report anthropic/claude-sonnet-5 --index
      cli report last --analyze gpt-5 --budget 2
      cli report last --json
    """
    _refuse_contradictions(run_names, analyze, budget, index, to_stdout, output, as_json)
    from convex_evals.config import open_workspace
    from convex_evals.errors import UserError
    from convex_evals.records import dump_json
    from convex_evals.reports.files import Folder
    from convex_evals.store.runs import RunStore
    from convex_evals.text import and_more

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    folder = Folder(workspace.home / "reports")
    runs = RunStore(workspace.runs_dir).find_all(run_names)
    if output and len(runs) != 1:
        raise UserError(f"{run_names[0]}: {len(runs)} runs; -o takes one")
    solver = _solver(workspace, analyze, budget) if analyze else None
    data: list[object] = []
    problems: list[str] = []
    for made, found in _all_made(workspace, folder, runs, output, solver, problems):
        if as_json:
            data.append(made.to_data())
        else:
            _put(workspace, made, found, to_stdout)
    if as_json:
        say_json(dump_json(data[0] if len(data) == 1 else data))
    if index:
        _write_index(folder)
    if problems:
        more = and_more(len(problems) - 1)
        raise UserError(f"--analyze {analyze}: {problems[0]}{more}; give the command again for what is left")


def _refuse_contradictions(
    run_names: Sequence[str],
    analyze: str | None,
    budget: float | None,
    index: bool,
    to_stdout: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Raises `click.UsageError`."""
    if not run_names and not index:
        raise click.UsageError("Missing argument 'RUN...'; `last` is the newest run")
    if output and (len(run_names) != 1 or to_stdout or as_json):
        raise click.UsageError("-o takes one RUN, and neither --stdout nor --json")
    if as_json and to_stdout:
        raise click.UsageError("--json and --stdout: give one of them")
    if budget is not None and not analyze:
        raise click.UsageError("--budget is for --analyze")
    if index and (to_stdout or as_json or output):
        raise click.UsageError("--index writes a file: leave out --stdout, --json and -o")


def _all_made(
    workspace: Workspace,
    folder: Folder,
    runs: Sequence[Run],
    output: Path | None,
    solver: ModelSolver | None,
    problems: list[str],
) -> Iterator[tuple[Report, ExistingReport]]:
    """The reports one by one, each with what stands in its file."""
    from convex_evals.reports.files import read

    sources = _sources(workspace, folder, runs) if runs else None
    for run in runs:
        assert sources is not None
        found = read(output.absolute() if output else folder.path(run.plan), run.plan, workspace.home)
        yield _made(run, sources, found, solver, problems), found


def _put(workspace: Workspace, made: Report, found: ExistingReport, to_stdout: bool) -> None:
    from convex_evals.reports.files import write

    text = _rendered(workspace, made, found)
    if to_stdout:
        say_markdown(text)
        return
    write(found, text)
    say(_line(found.path, made))


def _write_index(folder: Folder) -> None:
    from convex_evals.reports.files import INDEX
    from convex_evals.store.files import write_atomic

    path = folder.root / INDEX
    write_atomic(path, folder.index(), folder.root.parent)
    say(_shown(path))


def _sources(workspace: Workspace, folder: Folder, runs: Sequence[Run]) -> Sources:
    from convex_evals.reports.actions import Repository
    from convex_evals.reports.sources import Sources, newest_counts
    from convex_evals.store.runs import RunStore
    from convex_evals.suite.suite import load_suite

    decisions, unread = folder.decisions()
    own = {folder.path(run.plan) for run in runs}
    for path, why in unread.items():
        # About those that are regenerated an error will say it.
        if path not in own:
            complain(f"its decisions are not used: {why}", "warning")
    store = RunStore(workspace.runs_dir)
    return Sources(
        store=store,
        home=workspace.home,
        suite=workspace.suite,
        evals={e.id: e for e in load_suite(workspace.suite).evals},
        repository=Repository(workspace.suite),
        decisions=decisions,
        others=newest_counts(store),
    )


def _made(run: Run, sources: Sources, found: ExistingReport, solver: ModelSolver | None, problems: list[str]) -> Report:
    from convex_evals.render.terminal import Display
    from convex_evals.reports.analyze import kept, open_questions, with_proposals
    from convex_evals.reports.build import build

    with Display() as display:
        made = build(
            run, sources, found.path, found.document, _later(display.preparing, f"report on {run.plan.run_id}")
        )
        if found.document:
            made = with_proposals(made, kept(found.document.data))
        questions = open_questions(made) if solver else []
        if solver and questions:
            import asyncio

            from convex_evals.reports.analyze import analyze

            display.start(f"failures for {solver.model}", len(questions))
            analysis = asyncio.run(
                analyze(
                    questions,
                    sources.evals,
                    solver,
                    lambda f, j: display.item("passed" if j else "unscored", f.eval, 0, j.classification if j else ""),
                )
            )
            problems += analysis.unasked
            made = with_proposals(made, analysis.judgements)
    return made


def _later(tell: Callable[[str, int, int], None], what: str) -> Callable[[int, int], None]:
    """Progress once it takes long enough for somebody to wonder."""
    import time

    start = time.monotonic()

    def told(done: int, total: int) -> None:
        if time.monotonic() - start > _QUIET_SECONDS:
            tell(what, done, total)

    return told


def _rendered(workspace: Workspace, made: Report, found: ExistingReport) -> str:
    from convex_evals.reports.render import render

    return render(made, found.document, workspace.home / "templates", str(found.path))


def _solver(workspace: Workspace, model: str, budget: float | None) -> ModelSolver:
    from convex_evals.models.budget import Budget
    from convex_evals.models.catalog import load_models
    from convex_evals.models.solvers import SolverFactory
    from convex_evals.runs.request import load_environment

    load_environment(workspace.home)
    models = load_models(workspace.home)
    solvers = SolverFactory(models, workspace.config.concurrency, Budget(budget))
    return solvers.model(model, web_search=False, extra={})


def _line(path: Path, made: Report) -> str:
    from convex_evals.render.results import percent
    from convex_evals.text import counted

    impact = made.impact
    rate = f"{percent(made.counts)} passed ({made.counts.passed} of {made.counts.scored})"
    parts = [f"{_shown(path)}: {rate if made.counts.scored else 'nothing could be scored'}"]
    if impact.proposed.scored != made.counts.scored:
        decided = "" if impact.proposed == impact.decided else ", if the proposals hold"
        parts.append(f"{percent(impact.proposed)} without what is not the model's fault{decided}")
    undecided = f", {impact.undecided} to be decided" if impact.undecided else ""
    parts.append(f"{counted(len(made.failures), 'failure')}{undecided}")
    return "; ".join(parts)


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
