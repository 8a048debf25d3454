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
from convex_evals.guidelines.editor_files import TOOLS
from convex_evals.render.output import complain


@click.group()
def guidelines() -> None:
    """Inspect the guidelines document, and make of it the files that editors and coding agents read.

    \b
    Examples:
      cli guidelines coverage
      cli guidelines build
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


@guidelines.command()
@guidelines_experiment_option
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the files, a project, say. Default: guidelines/dist.",
)
@click.option(
    "--tool",
    "tools",
    multiple=True,
    type=click.Choice(TOOLS),
    metavar="NAME",
    help=f"Only the files of this tool; repeatable. One of {', '.join(TOOLS)}.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is out of date.")
@output_option
@click.pass_context
def build(ctx: click.Context, experiment: str, out: Path | None, tools: tuple[str, ...], check: bool, form: str) -> int:
    """Write the files in which editors and coding agents read the guidelines.

    They are .cursor/rules/NAME_rules.mdc, AGENTS.md, CLAUDE.md, .github/copilot-instructions.md,
    .windsurf/rules/NAME_rules.md, llms.txt and llms-full.txt, without comments, each with the version of this tool and
    the hash of the guidelines. What a tool's documentation says of length is kept: rules that do not fit are left out
    whole, first those that the fewest evals name. The same guidelines give the same bytes. A file that this command did
    not write, or that was edited since, is never replaced, but for those in guidelines/dist.

    \b
    Examples:
      cli guidelines build
      cli guidelines build --tool cursor --tool agents --out ../my-app
      cli guidelines build --check
    """
    from convex_evals.config import open_workspace
    from convex_evals.errors import ExitCode, UserError
    from convex_evals.guidelines.build import OutFolder, read_build

    workspace = open_workspace(suite_path(ctx), None, Path.cwd())
    if not (check or out or workspace.is_own):
        raise UserError("-C: a suite named by it is only read; add --check or --out DIR, or go into its folder")
    found = read_build(workspace, experiment, OutFolder.of(workspace, out), tools or TOOLS)
    if not check:
        found = found.write()
    print_result(form, found.to_section(), found.to_data)
    if not found.stale:
        return ExitCode.OK
    complain(f"out of date: {', '.join(found.stale)}; write them by the same command without --check")
    return ExitCode.USER_ERROR
