"""The formats that results are printed in: a new one is a function and an entry here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from convex_evals.render.output import say_csv, say_json, say_markdown, say_section

if TYPE_CHECKING:
    from convex_evals.render.model import Section


@dataclass(frozen=True)
class Result:
    """What a command prints; `data` and `markdown` are for what is more than its tables."""

    section: Section
    data: Callable[[], Any] | None = None
    markdown: Callable[[], str] | None = None


@dataclass(frozen=True)
class Format:
    """One way to print a result."""

    show: Callable[[Result], None]
    for_machines: bool = False  # no lines around the tables, and an empty one rather than a sentence


def _terminal(result: Result) -> None:
    say_section(result.section)


def _markdown(result: Result) -> None:
    from convex_evals.render.markdown import to_markdown

    say_markdown(result.markdown() if result.markdown else to_markdown(result.section))


def _json(result: Result) -> None:
    from convex_evals.records import dump_json
    from convex_evals.render.data import to_data

    say_json(dump_json(result.data() if result.data else to_data(result.section)))


def _csv(result: Result) -> None:
    from convex_evals.render.data import to_csv

    say_csv(to_csv(result.section))


DEFAULT = "terminal"
FORMATS: Mapping[str, Format] = {
    DEFAULT: Format(_terminal),
    "markdown": Format(_markdown),
    "json": Format(_json, for_machines=True),
    "csv": Format(_csv, for_machines=True),
}
