"""Numbers that options take, and how one that does not fit is refused."""

from __future__ import annotations

import math
import shlex
from typing import Any, NoReturn

import click

from convex_evals.text import shortened

_LONGEST = 40  # characters of a value that is told


class WholeNumber(click.IntRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Raises `click.UsageError`."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            is_whole = str(value).lstrip("+-").isdecimal()
            _refuse(value, param, ctx, f"a {'' if is_whole else 'whole '}number {_words(self)}")

    def _describe_range(self) -> str:
        return _words(self)  # in --help


class Number(click.FloatRange):
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Raises `click.UsageError`."""
        try:
            number = super().convert(value, param, ctx)
        except click.BadParameter:
            number = math.nan
        if math.isnan(number):  # nothing is less or more
            _refuse(value, param, ctx, f"a number {_words(self)}")
        return number

    def _describe_range(self) -> str:
        return _words(self)  # in --help


def _words(numbers: click.IntRange | click.FloatRange) -> str:
    """`from 1 to 100`"""
    if numbers.max is not None:
        return f"from {numbers.min} to {numbers.max}"
    return f"above {numbers.min}" if numbers.min_open else f"from {numbers.min} up"


def _refuse(value: Any, param: click.Parameter | None, ctx: click.Context | None, wanted: str) -> NoReturn:
    option = f"{max(param.opts, key=len)} " if param else ""
    raise click.UsageError(f"{option}{shlex.quote(shortened(str(value), _LONGEST))}: use {wanted}", ctx)
