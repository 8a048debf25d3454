"""`cli doctor`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import json_option
from convex_evals.render.output import say, say_json

if TYPE_CHECKING:
    from convex_evals.grading.health import Finding


@click.command()
@click.option("--install", is_flag=True, help="Install the toolchain if it is missing.")
@json_option
def doctor(install: bool, as_json: bool) -> int:
    """Show what is installed, what is missing, and the command that fixes it.

    Grades a tiny project of its own if the toolchain is installed. Exit code 1 if something is missing or broken.

    \b
    Examples:
      cli doctor
      cli doctor --install
    """
    import asyncio
    import json

    from convex_evals.errors import ExitCode
    from convex_evals.grading.health import inspect_all
    from convex_evals.render.terminal import Display

    with Display() as display:
        findings = asyncio.run(inspect_all(install=install, progress=display.preparing, warn=display.warn))
    if as_json:
        say_json(json.dumps([f.to_json() for f in findings], indent=2))
    else:
        _print(findings)
    return ExitCode.OK if all(f.status in ("ok", "absent") for f in findings) else ExitCode.USER_ERROR


def _print(findings: list[Finding]) -> None:
    for finding in findings:
        say(f"{finding.status:8} {finding.part:17} {finding.detail}")
        if finding.remedy:
            say(f"{'':26} -> {finding.remedy}")
        for name, result in finding.tried.items():
            say(f"{'':26} {name:34} {result}")
