"""`cli new-eval`"""

from __future__ import annotations

import click

from convex_evals.cli.options import own_workspace
from convex_evals.render.output import say


@click.command("new-eval")
@click.argument("category", metavar="CATEGORY")
@click.argument("name", metavar="NAME")
@click.pass_context
def new_eval(ctx: click.Context, category: str, name: str) -> None:
    """Create a new eval: a small example that validates, to be rewritten piece by piece.

    CATEGORY is an existing one (`queries` or `002-queries`), or a new one with its number (`008-agents`). NAME is
    prefixed with the next free number.

    \b
    Example:
      cli new-eval queries recent_orders
    """
    from convex_evals.suite.starter import lay_out_eval
    from convex_evals.vcs.origin import own_origin

    written = lay_out_eval(own_workspace(ctx).suite, category, name)
    folder = next(p.parent for p in written if p.name == "TASK.txt")
    ident = "/".join(folder.parts[-2:])
    say(f"Created {len(written)} files in {folder}:")
    for path in written:
        say(f"  {path.relative_to(folder).as_posix()}")
    say("Next: write TASK.txt, answer/ and grader.test.ts, then")
    say(f"  cli codegen -f {ident}     # types of the answer's functions, for the grader")
    say(f"  cli validate -f {ident}    # answer and accept/ pass, wrong/ is caught")
    say(f"How to write one that can be trusted: {own_origin().page('docs/writing-evals.md')}")
