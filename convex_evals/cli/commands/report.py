"""`cli report`"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.numbers import Number
from convex_evals.cli.options import collect, output_option, print_result, runs_dir_option, suite_path, tell_left_out
from convex_evals.render.formats import DEFAULT
from convex_evals.render.output import complain, say, say_markdown

if TYPE_CHECKING:
    from convex_evals.config import Workspace
    from convex_evals.models.retries import ModelSolver
    from convex_evals.reports.files import ExistingReport, Folder
    from convex_evals.reports.model import Report
    from convex_evals.reports.reporter import Reporter
    from convex_evals.store.run import Run


@dataclass(frozen=True)
class ReportOptions:
    """All of this command."""

    run_names: tuple[str, ...]
    analyze: str | None
    budget: float | None  # dollars
    index: bool
    to_stdout: bool
    output: Path | None
    runs_dir: Path | None
    form: str

    @property
    def as_document(self) -> bool:
        return self.to_stdout or self.form == "markdown"

    @property
    def as_data(self) -> bool:
        return self.form not in (DEFAULT, "markdown")


@click.command()
@click.argument("run_names", metavar="RUN...", nargs=-1)
@click.option("--analyze", metavar="MODEL", help="Ask this model to classify the failures that no person has decided.")
@click.option("--budget", type=Number(min=0, min_open=True), metavar="USD", help="Hard limit on the cost of --analyze.")
@click.option("--index", is_flag=True, help="Write reports/README.md, a list of all reports.")
@click.option("--stdout", "to_stdout", is_flag=True, help="The same as --format markdown: print it, write nothing.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the report of one RUN to FILE. Default: reports/PROVIDER/MODEL/RUN_DATE.md.",
)
@runs_dir_option
@output_option
@collect("options", ReportOptions)
@click.pass_context
def report(ctx: click.Context, options: ReportOptions) -> int:
    """Write a report for review: what failed and why, whose fault it is, and what that means for the pass rate.

    RUN is a run's id or a prefix of it, its folder, `last`, or a model's slug for all of its runs. What people write in
    the marked places of a report is kept when the report is regenerated, and informs later proposals. A run in which no
    trial has a verdict gets no report; the others do, and the exit code is 6. With a --format
    other than `terminal`, the report is printed and nothing is written; `csv` has a row for each failure.

    \b
    Examples:
      cli report last
      cli report anthropic/claude-sonnet-5 --index
      cli report last --analyze gpt-5 --budget 2
      cli report last --json
      cli report anthropic/claude-sonnet-5 --format csv > failures.csv
    """
    _refuse_contradictions(options)
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.reports.files import Folder
    from convex_evals.reports.reporter import Reporter
    from convex_evals.text import and_more

    workspace = open_workspace(suite_path(ctx), options.runs_dir, Path.cwd())
    folder = Folder(workspace.home / "reports")
    reporter = Reporter(workspace, folder, None, lambda line: complain(line, "warning"))
    runs = reporter.store.find_all(options.run_names)
    if options.output and len(runs) != 1:
        raise UserError(f"{options.run_names[0]}: {len(runs)} runs; -o takes one")
    reporter.solver = _solver(workspace, options.analyze, options.budget) if options.analyze else None
    _make(reporter, runs, options)
    if options.index:
        _write_index(folder)
    unread = tell_left_out(reporter.store)
    for line in (*reporter.faulty, *reporter.empty):
        if line not in (reporter.store.left_out or ()):
            complain(line)
    if problems := reporter.problems:
        more = and_more(len(problems) - 1)
        raise UserError(f"--analyze {options.analyze}: {problems[0]}{more}; run the command again for the rest")
    if unread or reporter.faulty:
        return ExitCode.USER_ERROR
    return ExitCode.INCOMPLETE if reporter.empty else ExitCode.OK


def _refuse_contradictions(options: ReportOptions) -> None:
    """Raises `click.UsageError`."""
    printing = options.as_document or options.as_data
    if not options.run_names and not options.index:
        raise click.UsageError("Missing argument 'RUN...'; `last` is the newest run")
    if options.output and (len(options.run_names) != 1 or printing):
        raise click.UsageError("-o takes one RUN, and neither --stdout nor --format nor --json")
    if options.to_stdout and options.form != DEFAULT:
        raise click.UsageError("--stdout, --format and --json: give only one of them")
    if options.budget is not None and not options.analyze:
        raise click.UsageError("--budget needs --analyze")
    if options.index and (printing or options.output):
        raise click.UsageError("--index writes a file: leave out --stdout, --format, --json and -o")


def _make(reporter: Reporter, runs: list[Run], options: ReportOptions) -> None:
    """Write each report when it is made, or print them."""
    from convex_evals.render.model import Section
    from convex_evals.reports.table import failures_table

    kept: list[Report] = []
    for made, found in reporter.reports(runs, options.output):
        if options.as_data:
            kept.append(made)
        else:
            _put(reporter, made, found, options.as_document)
    if options.as_data:
        data = [made.to_data() for made in kept]
        print_result(options.form, Section.of(failures_table(kept)), lambda: data[0] if len(data) == 1 else data)


def _put(reporter: Reporter, made: Report, found: ExistingReport, to_stdout: bool) -> None:
    from convex_evals.reports.files import write

    text = reporter.text(made, found)
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


def _solver(workspace: Workspace, model: str, budget: float | None) -> ModelSolver:
    from convex_evals.models.budget import Budget
    from convex_evals.models.solvers import refuse_without_keys
    from convex_evals.runs.request import make_solvers

    solver = make_solvers(workspace, Budget(budget)).model(model, web_search=False, extra={}, at_once=True)
    refuse_without_keys([solver])
    return solver


def _line(path: Path, made: Report) -> str:
    from convex_evals.render.numbers import percent
    from convex_evals.text import counted

    impact = made.impact
    rate = f"{percent(made.counts)} passed ({made.counts.passed} of {made.counts.scored})"
    parts = [f"{_shown(path)}: {rate}"]
    if impact.proposed.scored != made.counts.scored:
        decided = "" if impact.proposed == impact.decided else ", if the proposals hold"
        parts.append(f"{percent(impact.proposed)} without what is not the model's fault{decided}")
    undecided = f", {impact.undecided} to be decided" if impact.undecided else ""
    parts.append(f"{counted(len(made.failures), 'failure')}{undecided}")
    return "; ".join(parts)


def _shown(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
