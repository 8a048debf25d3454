"""`cli doctor`"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_lines

if TYPE_CHECKING:
    from convex_evals.grading.health import Finding


@click.command()
@click.option("--install", is_flag=True, help="Install the toolchain if it is missing.")
@output_option
def doctor(install: bool, form: str) -> int:
    """Show what is installed, what is missing, and the command that fixes it.

    Grades a tiny project of its own if the toolchain is installed. Exit code 1 if something is missing or broken.

    \b
    Examples:
      cli doctor
      cli doctor --install
    """
    import asyncio

    from convex_evals.errors import ExitCode
    from convex_evals.grading.health import inspect_all
    from convex_evals.render.terminal import Display

    with Display() as display:
        findings = asyncio.run(inspect_all(install=install, progress=display.preparing, warn=display.warn))
    _print(findings, form)
    return ExitCode.OK if all(f.status in ("ok", "absent") for f in findings) else ExitCode.USER_ERROR


def _print(findings: list[Finding], form: str) -> None:
    from convex_evals.render.model import Column, Table

    columns = [Column(name, name) for name in ("status", "part", "detail", "remedy")]
    table = Table.of(columns, [[f.status, f.part, f.detail, f.remedy] for f in findings])
    print_lines(form, (line for f in findings for line in _lines(f)), table, lambda: [f.to_json() for f in findings])


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.status:8} {finding.part:17} {finding.detail}"
    if finding.remedy:
        yield f"{'':26} -> {finding.remedy}"
    for name, result in finding.tried.items():
        yield f"{'':26} {name:34} {result}"
