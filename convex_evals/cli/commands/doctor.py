"""`cli doctor`"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.options import output_option, print_lines

if TYPE_CHECKING:
    from convex_evals.grading.health import Finding


@click.command()
@click.option("--install", is_flag=True, help="Install the toolchain if it is missing.")
@output_option
def doctor(install: bool, form: str) -> int:
    """Show what is installed, what is missing, and the command that fixes it; and which models' keys are set.

    Names the first mistake in the settings of the suite (convex-evals.yaml, models.yaml).
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

    suite = _inspect_suite()
    with Display() as display:
        findings = asyncio.run(inspect_all(install=install, progress=display.preparing, warn=display.warn))
    findings += suite
    _print(findings, form)
    return ExitCode.OK if all(f.status in ("ok", "absent") for f in findings) else ExitCode.USER_ERROR


def _inspect_suite() -> list[Finding]:
    """Its settings, and the keys of the models that can be named in it; outside of a suite, of those that ship."""
    from convex_evals.config import find_suite, open_workspace
    from convex_evals.errors import UserError
    from convex_evals.grading.health import Finding, inspect_keys
    from convex_evals.models.catalog import load_catalog, shipped_models
    from convex_evals.runs.request import load_environment

    root = find_suite(Path.cwd())
    if root is None:
        detail = f"{Path.cwd()}: not a suite; the keys are those of the shipped models"
        return [Finding("settings", "absent", detail), inspect_keys(shipped_models())]
    try:
        home = open_workspace(None, None, root).home
        load_environment(home)
        entries = load_catalog(home).entries
    except UserError as error:
        return [Finding("settings", "broken", str(error)), inspect_keys(shipped_models())]
    return [
        Finding("settings", "ok", f"{root}: convex-evals.yaml and models.yaml have no mistake"),
        inspect_keys(entries),
    ]


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
