"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def filter_options(command: F) -> F:
    command = click.option(
        "-c",
        "--category",
        "categories",
        multiple=True,
        metavar="NAME",
        help="Only this category (`002-queries` or `queries`); repeatable.",
    )(command)
    return click.option("-f", "--filter", "pattern", metavar="REGEX", help="Only evals whose id matches.")(command)


def workers_option(command: F) -> F:
    return click.option(
        "-w",
        "--workers",
        type=click.IntRange(1, 64),
        metavar="N",
        help="Projects graded at the same time. Default: the cores.",
    )(command)


def runs_dir_option(command: F) -> F:
    return click.option(
        "--runs-dir",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="Where results stand. Default: runs/.",
    )(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, nothing else, on stdout.")(
        command
    )


def suite_path(ctx: click.Context) -> Path | None:
    """What `-C` said."""
    return Path(ctx.obj) if ctx.obj else None
