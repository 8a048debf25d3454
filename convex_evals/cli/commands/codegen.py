"""`cli codegen`"""

from __future__ import annotations

import click

from convex_evals.cli.options import filter_options, json_option, suite_path
from convex_evals.render.output import say, say_json


@click.command()
@filter_options
@click.option("--check", is_flag=True, help="Write nothing; exit with 4 if a folder is out of date.")
@json_option
@click.pass_context
def codegen(ctx: click.Context, pattern: str | None, categories: tuple[str, ...], check: bool, as_json: bool) -> int:
    """Write `_generated/` of the reference answers, as `npx convex dev` would.

    Graders import it for the types of the functions that they call, so it is committed with the answer.

    \b
    Examples:
      cli codegen -f 002-queries/003
      cli codegen --check
    """
    import asyncio
    import json
    from pathlib import Path

    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.grading.codegen import generate_all
    from convex_evals.render.terminal import Display
    from convex_evals.suite.suite import load_suite

    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    evals = load_suite(workspace.suite).select(pattern, categories)
    with Display() as display:
        done = asyncio.run(generate_all(workspace, evals, display, check=check))
    stale = [g for g in done if not g.is_current]
    if as_json:
        say_json(json.dumps([{"eval": g.ev.id, "stale": g.stale, "surplus": g.surplus} for g in stale], indent=2))
    else:
        for g in stale:
            say(f"{g.ev.id}: {'out of date' if check else 'written'}: {', '.join([*g.stale, *g.surplus])}")
        say(f"{len(done) - len(stale)} of {len(done)} up to date")
    return ExitCode.EVALS_FAILED if check and stale else ExitCode.OK
