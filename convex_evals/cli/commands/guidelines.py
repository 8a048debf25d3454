"""`cli guidelines`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import json_option, runs_dir_option, suite_path
from convex_evals.render.output import complain, say, say_json


@click.group()
def guidelines() -> None:
    """Look at the guidelines document itself.

    \b
    Examples:
      cli guidelines coverage
      cli diff-guidelines HEAD~1     what a change of it did
    """


@guidelines.command()
@click.option("-e", "--experiment", default="default", show_default=True, metavar="NAME", help="Whose guidelines.")
@runs_dir_option
@json_option
@click.pass_context
def coverage(ctx: click.Context, experiment: str, runs_dir: Path | None, as_json: bool) -> int:
    """List the rules that no eval exercises, the evals that no rule names, and, from runs, those that no rule helps.

    A rule names its evals in a comment after it, which models do not get: `<!-- evals: 002-queries/001-joins -->`.
    Exit code 1 where such a comment names what is no eval.

    \b
    Examples:
      cli guidelines coverage
      cli guidelines coverage -e short --json
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.guidelines.coverage import Coverage, find_benefit
    from convex_evals.guidelines.document import read_guidelines
    from convex_evals.records import dump_json
    from convex_evals.runs.request import guidelines_text
    from convex_evals.store.runs import RunStore
    from convex_evals.suite.prompt import guidelines_sha256
    from convex_evals.suite.suite import load_suite

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    path = workspace.config.experiment(experiment).guidelines
    if path is None:
        raise UserError(f"-e {experiment}: gives no guidelines; name another experiment")
    found = read_guidelines(guidelines_text(path, workspace.suite))
    evals = [e.id for e in load_suite(workspace.suite).evals]
    benefit = find_benefit(
        RunStore(workspace.runs_dir), workspace.config.experiments, experiment, guidelines_sha256(found.text)
    )
    result = Coverage(path, found, evals, benefit)
    if as_json:
        say_json(dump_json(result.to_data()))
    else:
        say(result.to_text())
    for line in result.errors:
        complain(line)
    return ExitCode.USER_ERROR if result.errors else ExitCode.OK
