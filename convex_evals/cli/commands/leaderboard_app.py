"""`cli leaderboard-app`"""

from __future__ import annotations

from pathlib import Path

import click

from convex_evals.cli.options import output_option, print_result


@click.group()
def leaderboard_app() -> None:
    """Check the leaderboard's app before it is deployed.

    \b
    Examples:
      cli leaderboard-app check export.zip
    """


@leaderboard_app.command()
@click.argument("export", metavar="EXPORT", type=click.Path(path_type=Path))
@click.option(
    "--app", metavar="DIR", type=click.Path(path_type=Path), help="Folder of the app. Default: that of this version."
)
@output_option
def check(export: Path, app: Path | None, form: str) -> int:
    """Say whether documents of a deployment fit the app's schema, or need a migration first.

    EXPORT is the file of `npx convex export`. Its documents are put into a backend on this machine, and the app is
    deployed over them, as Convex would. Exits with 4 where one does not fit: deploy a schema that takes both, migrate
    (`npx convex run migrations:runAll`), and tighten the schema then.

    \b
    Examples:
      npx convex export --prod --path export.zip
      cli leaderboard-app check export.zip
    """
    import asyncio

    from convex_evals.errors import ExitCode
    from convex_evals.publish.app_check import check_export
    from convex_evals.publish.local import APP
    from convex_evals.render.model import Section
    from convex_evals.render.terminal import Display
    from convex_evals.text import counted

    with Display() as display:
        found = asyncio.run(check_export(export, app or APP, display.preparing))
    held = f"{counted(found.documents, 'document')} in {counted(found.tables, 'table')}"
    said = (
        f"{export}: {held} fit: the app can be deployed as it is."
        if found.mismatch is None
        else f"{export}: needs a migration: {found.mismatch}"
    )
    print_result(form, Section.of(said), found.to_data)
    return ExitCode.OK if found.mismatch is None else ExitCode.EVALS_FAILED
