"""`cli init`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.render.output import complain, say


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
    from convex_evals import __version__
    from convex_evals.suite.starter import REQUIREMENTS, lay_out
    from convex_evals.vcs.origin import own_origin

    written = lay_out(folder)
    say(f"Created {len(written)} files in {folder}:")
    for path in written:
        say(f"  {path.relative_to(folder)}")
    if own_origin().requirement(__version__) is None:
        complain(
            f"{folder / REQUIREMENTS}: no repository is known to have this very convex-evals; write there from which "
            "repository and commit the workflows install it",
            "warning",
        )
    say(f"Next: cd {folder} && git init && cli validate")
    say("Then, recorded replies, without a key: cli run -m demo --trials 2")
