"""What report templates may use: a `Report` as plain data, and functions that take plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel

from convex_evals.analysis.compare import points, span
from convex_evals.analysis.compare.to_markdown import MARKS
from convex_evals.records import Counts
from convex_evals.render import markdown
from convex_evals.render.numbers import dollars, duration, ends, percent, two_intervals
from convex_evals.render.templates import Vocabulary
from convex_evals.reports.human_sections import GENERAL, KINDS
from convex_evals.text import counted

NAME = f"{__name__}:make_vocabulary"
_LONGEST_CHECK = 25  # lines
Plain = Mapping[str, Any]


def plain(value: object) -> Any:
    """As dicts, lists, text and numbers alone, what objects work out included."""
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    names: list[str] = []
    if isinstance(value, BaseModel):
        names = list(type(value).model_fields)
    elif dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value)]
    assert names, f"{type(value).__name__} is nothing for a template"
    worked_out = [n for n, v in vars(type(value)).items() if isinstance(v, property) and not n.startswith("_")]
    return {name: plain(getattr(value, name)) for name in [*names, *worked_out]}


def make_vocabulary(tokens: Mapping[str, str]) -> Vocabulary:
    """`tokens` has, by `place_key`, what stands for a place until people's words replace it."""

    def place(kind: str, failure: Plain | None = None) -> str:
        where = ("", "") if failure is None else (str(failure["eval"]), str(failure["signature"]["key"]))
        token = tokens.get(place_key(str(kind), *where))
        if token is None:
            known = " or ".join(f'place("{k}", failure)' for k in KINDS)
            raise LookupError(f'no such place; write place("{GENERAL}"), {known}')
        return token

    return Vocabulary(_FILTERS, {**_FUNCTIONS, "place": place})


def place_key(kind: str, eval_id: str, signature: str) -> str:
    return "\0".join([kind, eval_id, signature])


def _counts(counts: Plain) -> Counts:
    return Counts(passed=counts["passed"], failed=counts["failed"], unscored=counts["unscored"])


def _percent(counts: Plain) -> str:
    return percent(_counts(counts))


def _interval(rate: Plain) -> str:
    return two_intervals(rate["interval"], rate["interval_these_evals"]).replace("-", "–")


def _ends(interval: tuple[float, float] | None) -> str:
    return ends(interval).replace("-", "–")


def _folded(body: str, summary: str, title: str = "", is_open: bool = False) -> str:
    return markdown.folded(summary, body, title=title, is_open=is_open)


def _failing(failure: Plain) -> str:
    """The checks that failed, each under its name."""
    parts = []
    for check in failure["checks"]:
        # A step says itself what it is about; a test's name is what the grader wants.
        name = "" if check["name"] == failure["step"] else f"{markdown.code(check['name'], 240)}\n\n"
        parts.append(name + markdown.fenced(check["message"] or "-", "text", _LONGEST_CHECK))
    if failure["checks_left_out"]:
        parts.append(f"And {counted(failure['checks_left_out'], 'other')} that failed.")
    return "\n\n".join(parts)


def _excused(impact: Plain) -> bool:
    return bool(impact["proposed"]["scored"] != impact["counts"]["scored"])


def _about(action: Plain, eval_id: str) -> list[str]:
    return [what for what in action["about"] if what.endswith(f" of {eval_id}")]


def _mark(verdict: str) -> str:
    """Seen before it is read; only what is shown to have changed has one."""
    return next((f"{sign} " for found, sign in MARKS.items() if found.words == verdict), "")


_FILTERS: dict[str, Callable[..., Any]] = {
    "inline": markdown.inline,
    "cell": markdown.cell,
    "code": markdown.code,
    "code_cell": partial(markdown.code, in_table=True),
    "fenced": markdown.fenced,
    "folded": _folded,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "percent": _percent,
    "ends": _ends,
    "interval": _interval,
    "dollars": dollars,
    "duration": duration,
    "count": counted,
    "excused": _excused,
    "about": _about,
    "failing": _failing,
    "points": points,
    "span": span,
    "mark": _mark,
}
