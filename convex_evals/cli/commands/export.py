"""`cli export`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import formats_option, pattern_option, runs_dir_option, suite_path
from convex_evals.render.output import say, say_bytes

FORMATS = ("inspect-log", "deepeval", "junit", "csv", "parquet")
OUTCOMES = ("passed", "failed", "unscored")


@click.command()
@click.argument("names", metavar="RUN...", nargs=-1, required=True)
@formats_option(FORMATS)
@pattern_option
@click.option(
    "--outcome",
    "outcomes",
    type=click.Choice(OUTCOMES),
    multiple=True,
    metavar="OUTCOME",
    help="Only trials with this outcome: passed, failed or unscored; repeatable.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="File, or folder of the logs with inspect-log. Default: stdout.",
)
@runs_dir_option
@click.pass_context
def export(
    ctx: click.Context,
    names: tuple[str, ...],
    form: str,
    patterns: tuple[str, ...],
    outcomes: tuple[str, ...],
    output: Path | None,
    runs_dir: Path | None,
) -> None:
    """Write the trials of runs for other tools: Inspect, DeepEval, CI, spreadsheets, notebooks.

    RUN is a run's id or a prefix of it, its folder, `last`, a model's slug for all of its runs, or a selection of all
    runs that match: `model=...,experiment=...,guidelines=...,date=...`. The same runs make the same bytes.

    \b
    Examples:
      cli export last --format junit -o results.xml
      cli export anthropic/claude-sonnet-5 --format parquet -o trials.parquet
      cli export experiment=default,date=2026-11 --format csv > trials.csv
      cli export last --format deepeval --outcome failed -o failures.json
      cli export last --format inspect-log -o logs && inspect view --log-dir logs
    """
    from convex_evals.config import open_workspace
    from convex_evals.exports import EXPORTS
    from convex_evals.exports.writing import choose, notes, write
    from convex_evals.render.terminal import Display
    from convex_evals.text import counted

    chosen_form = EXPORTS[form]
    if output is None and not chosen_form.is_text:
        raise click.UsageError(f"--format {form} is no text: give a file, -o trials.{form}")
    runs = choose(names, open_workspace(suite_path(ctx), runs_dir, Path.cwd()), patterns, outcomes)
    if output is None:
        if chosen_form.name_of and len(runs) > 1:
            raise click.UsageError(f"--format {form} makes a file for each of {len(runs)} runs: give a folder, -o logs")
        say_bytes(chosen_form.write(runs))
    else:
        with Display() as display:
            files = write(runs, chosen_form, output, lambda done: display.preparing(f"writing {output}", done, 0))
        what = counted(len(files), "log") if chosen_form.name_of else counted(len(runs), "run")
        say(f"{what} written to {output}", err=True)
    for note in notes(runs):
        say(note, err=True)
