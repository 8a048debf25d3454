"""`cli doctor`"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_result

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
    from convex_evals.render.markdown import to_markdown
    from convex_evals.render.model import Column, Section, Table

    columns = [Column(name, name) for name in ("status", "part", "detail", "remedy")]
    rows = [[f.status, f.part, f.detail, f.remedy] for f in findings]
    hidden = [Column(column.key, None) for column in columns]
    section = Section.of(*(line for f in findings for line in _lines(f)), Table.of(hidden, rows))
    table = Section.of(Table.of(columns, rows))
    print_result(form, section, lambda: [f.to_json() for f in findings], lambda: to_markdown(table))


def _lines(finding: Finding) -> Iterator[str]:
    yield f"{finding.status:8} {finding.part:17} {finding.detail}"
    if finding.remedy:
        yield f"{'':26} -> {finding.remedy}"
    for name, result in finding.tried.items():
        yield f"{'':26} {name:34} {result}"
