"""`cli codegen`"""

from __future__ import annotations

import click

from convex_evals.cli.options import (
    containment_of,
    containment_options,
    filter_options,
    output_option,
    print_result,
    suite_path,
)
from convex_evals.render.formats import DEFAULT


@click.command()
@filter_options
@click.option("--check", is_flag=True, help="Write nothing; exit with 4 if a folder is out of date.")
@containment_options
@output_option
@click.pass_context
def codegen(
    ctx: click.Context,
    patterns: tuple[str, ...],
    categories: tuple[str, ...],
    tags: tuple[str, ...],
    check: bool,
    sandbox: str | None,
    unsafe_no_sandbox: bool,
    form: str,
) -> int:
    """Write `_generated/` of the reference answers, as `npx convex dev` would.

    Graders import it for the types of the functions that they call, so it is committed with the answer. Evals with
    `pipeline: static` have no backend, and are left out.

    \b
    Examples:
      cli codegen -f 002-queries/003
      cli codegen --check
    """
    import asyncio
    from pathlib import Path

    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.grading.codegen import generate_all
    from convex_evals.records import Pipeline
    from convex_evals.render.model import Column, Section, Table
    from convex_evals.render.terminal import Display
    from convex_evals.suite.suite import load_suite
    from convex_evals.text import counted

    containment = containment_of(sandbox, unsafe_no_sandbox)
    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    if not (check or workspace.is_own):
        raise UserError("-C: a suite named by it is only read; add --check, or go into its folder")
    chosen = load_suite(workspace.suite).select(patterns, categories, tags)
    evals = [ev for ev in chosen if ev.config.pipeline is Pipeline.FULL]
    done = []
    if evals:
        with Display(off_later=form == DEFAULT) as display:
            done = asyncio.run(generate_all(workspace, evals, containment, display, check=check))
    stale = [g for g in done if not g.is_current]
    said = "out of date" if check else "written"
    lines = [f"{g.ev.id}: {said}: {', '.join([*g.stale, *g.surplus])}" for g in stale]
    columns = [Column("eval", None), Column("stale", None), Column("surplus", None)]
    table = Table.of(columns, [[g.ev.id, g.stale, g.surplus] for g in stale])
    left_out = f"; {counted(len(chosen) - len(evals), 'static eval')} left out" if len(evals) < len(chosen) else ""
    print_result(form, Section.of(*lines, f"{len(done) - len(stale)} of {len(done)} up to date{left_out}", table))
    return ExitCode.EVALS_FAILED if check and stale else ExitCode.OK
