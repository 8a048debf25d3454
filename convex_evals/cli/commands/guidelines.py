"""`cli guidelines`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import (
    guidelines_experiment_option,
    output_option,
    print_result,
    runs_dir_option,
    suite_path,
)
from convex_evals.render.output import complain


@click.group()
def guidelines() -> None:
    """Inspect the guidelines document.

    \b
    Examples:
      cli guidelines coverage
      cli diff-guidelines HEAD~1     how a change affected models
    """


@guidelines.command()
@guidelines_experiment_option
@runs_dir_option
@output_option
@click.pass_context
def coverage(ctx: click.Context, experiment: str, runs_dir: Path | None, form: str) -> int:
    """List the rules that no eval exercises, the evals that no rule names, and, from runs, those that no rule helps.

    A rule names its evals in a comment after it, which models do not see: `<!-- evals: 002-queries/001-joins -->`;
    `evals: none` names none.
    Exit code 1 if such a comment names an eval that does not exist.

    \b
    Examples:
      cli guidelines coverage
      cli guidelines coverage -e short --json
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode
    from convex_evals.guidelines.coverage import read_coverage

    result = read_coverage(open_workspace(suite_path(ctx), runs_dir, Path.cwd()), experiment)
    print_result(form, result.to_section(), result.to_data)
    for line in result.errors:
        complain(line)
    return ExitCode.USER_ERROR if result.errors else ExitCode.OK
