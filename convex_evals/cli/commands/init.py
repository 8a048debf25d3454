"""`cli init`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.render.output import say


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Create a new repository in DIR: one eval, guidelines, models.yaml, and workflows for CI.

    Existing files are never changed: a file that already exists is an error.

    \b
    Examples:
      cli init my-evals
      cd my-evals && cli validate
    """
    from convex_evals.suite.starter import lay_out

    written = lay_out(folder)
    say(f"Created {len(written)} files in {folder}:")
    for path in written:
        say(f"  {path.relative_to(folder)}")
    say(f"Next: cd {folder} && git init && cli validate")
