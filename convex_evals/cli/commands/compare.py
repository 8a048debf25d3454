"""`cli compare`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import output_option, print_result, runs_dir_option, suite_path, tell_left_out
from convex_evals.render.formats import FORMATS


@click.command()
@click.argument("a")
@click.argument("b")
@click.option(
    "--by-model", is_flag=True, help="A row for each model that both have: does it help, and how sure is that?"
)
@output_option
@runs_dir_option
@click.pass_context
def compare(ctx: click.Context, a: str, b: str, by_model: bool, form: str, runs_dir: Path | None) -> int:
    """Compare two runs, or two selections of runs, eval by eval: is B better than A, and how sure is that?

    A and B are each a run's id (or a prefix of it), its folder, `last`, or a selection of all runs that match:
    `model=...,experiment=...,guidelines=...,date=...`. Guidelines are a Git revision, PATH@REV, a file, a prefix of the
    hash that `cli history` shows, or `none`. A selection leaves out runs that are synthetic, not complete or without a
    scored trial; `runs=all` takes them, too. Evals whose task, grader or backend differs are listed, not compared.

    \b
    Examples:
      cli compare default-1f2e3d4c last
      cli compare model=gpt-5,experiment=no_guidelines model=gpt-5,experiment=default
      cli compare experiment=no_guidelines experiment=default --by-model
      cli compare model=gpt-5,guidelines=HEAD~1 model=gpt-5,guidelines=HEAD --format markdown
    """
    from convex_evals.analysis.compare import compare as compare_sides
    from convex_evals.analysis.compare import to_data, to_markdown, to_section
    from convex_evals.analysis.compare.by_model import compare_models
    from convex_evals.analysis.selection import select
    from convex_evals.config import open_workspace
    from convex_evals.store.runs import RunStore

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    store = RunStore(workspace.runs_dir, left_out=[])
    sides = [select(each, workspace, store) for each in (a, b)]
    if by_model:
        models = compare_models(*sides)
        print_result(form, models.to_section(), models.to_data)
        return tell_left_out(store)
    found = compare_sides(*sides)
    section = to_section(found, whole=FORMATS[form].for_machines)
    print_result(form, section, lambda: to_data(found), lambda: to_markdown(found))
    return tell_left_out(store)
