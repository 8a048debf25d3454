"""A `Report` to Markdown, with what people wrote put back where it belongs."""

from __future__ import annotations

import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convex_evals import markdown
from convex_evals.compare import points, span
from convex_evals.compare.to_markdown import MARKS
from convex_evals.errors import UserError
from convex_evals.records import Counts
from convex_evals.reports.analyze import to_keep
from convex_evals.reports.places import (
    CLOSING,
    FENCES_END,
    GENERAL,
    KINDS,
    Document,
    Place,
    harmless,
    opening,
    parse,
    trailer,
)
from convex_evals.reports.shape import Action, Failure, Impact, Report
from convex_evals.results import counted, dollars, duration, interval, percent

if TYPE_CHECKING:
    import jinja2

TEMPLATE = "report.md.j2"
SHIPPED = Path(__file__).parent / "templates"
_TOKEN = re.compile("\0\\d+\0")
_BLANK_LINES = re.compile(r"\n{3,}")
_LONGEST_CHECK = 25  # lines


@dataclass(frozen=True)
class _Slot:
    """Where a place goes: the token stands in the rendered text until people's words replace it."""

    place: Place
    trial: int
    text: str | None  # what people wrote; None: the place is new
    token: str


def render(report: Report, document: Document | None, templates: Path, name: str) -> str:
    """The file's text. `document` is what stands in the file `name` now; `templates` may hold another template.

    Raises `UserError` where a template is broken, or leaves out what people wrote.
    """
    template, path = _template(templates)
    slots = _slots(report, document)

    def place(kind: str, failure: Failure | None = None) -> str:
        slot = slots.get(_place(kind, failure))
        if slot is None:
            known = " or ".join(f'place("{k}", failure)' for k in KINDS)
            raise LookupError(f'no such place; write place("{GENERAL}"), {known}')
        return slot.token

    now = {_place(kind, f) for f in report.failures for kind in KINDS} | {Place(GENERAL)}
    text = _run(template, path, report=report, place=place, earlier=[s for p, s in slots.items() if p not in now])
    _refuse_losses(text, slots.values(), path)
    newline = "\r\n" if document and document.crlf else "\n"
    # Marks that others wrote are none: the template's own are still tokens.
    text = harmless(_BLANK_LINES.sub("\n\n", text).strip("\n") + "\n").replace("\n", newline)
    by_token = {slot.token: _filled(slot, newline) for slot in slots.values()}
    text = _TOKEN.sub(lambda found: by_token.get(found[0], ""), text)
    whole = text + newline + trailer(text, summary_of(report)).replace("\n", newline)
    parse(whole, name)
    return whole


def _slots(report: Report, document: Document | None) -> dict[Place, _Slot]:
    """The places of this report; at the end those that nothing has a place for, and people wrote in."""
    written = document.places if document else {}
    trials = {_place(kind, f): f.trials[0] for f in report.failures for kind in KINDS}
    trials = {Place(GENERAL): 0, **trials}
    trials |= {p: w.trial for p, w in written.items() if p not in trials and not w.is_blank}
    return {
        place: _Slot(place, trial, written[place].text if place in written else None, f"\0{n}\0")
        for n, (place, trial) in enumerate(trials.items())
    }


def _place(kind: str, failure: Failure | None) -> Place:
    return Place(kind, failure.eval, failure.signature.key) if failure else Place(kind)


def _refuse_losses(text: str, slots: Iterable[_Slot], path: Path) -> None:
    shown = Counter(_TOKEN.findall(text))
    for slot in slots:
        times = shown[slot.token]
        if times > 1 or (times == 0 and slot.text and slot.text.strip()):
            what = f"{slot.place.kind} on {slot.place.eval}" if slot.place.eval else "notes on the run"
            raise UserError(f"{path}: shows the place for {what} {times} times; show every place once, and `earlier`")


def _filled(slot: _Slot, newline: str) -> str:
    text = newline if slot.text is None else slot.text
    return f"{opening(slot.place, slot.trial)}{newline}{text}{CLOSING}{newline}{FENCES_END.replace(chr(10), newline)}"


def summary_of(report: Report) -> dict[str, Any]:
    """What the index says about a report."""
    return {
        "run_id": report.run_id,
        "date": report.date,
        "model": report.model,
        "experiment": report.experiment,
        "synthetic": report.synthetic,
        "counts": report.counts.model_dump(),
        "excused": report.impact.decided.scored - report.counts.scored,
        "failures": len(report.failures),
        "undecided": report.impact.undecided,
        "verdict": report.previous.verdict if report.previous else None,
        "analysis": to_keep(report),
    }


def _template(templates: Path) -> tuple[jinja2.Template, Path]:
    import jinja2

    own = templates / TEMPLATE
    path = own if own.is_file() else SHIPPED / TEMPLATE
    try:
        return _environment(templates, own.stat().st_mtime_ns if own.is_file() else 0).get_template(TEMPLATE), path
    except jinja2.TemplateSyntaxError as error:
        raise UserError(f"{error.filename or path}:{error.lineno}: {error.message}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


@lru_cache(maxsize=4)
def _environment(templates: Path, version: int) -> jinja2.Environment:
    """Kept, since compiling takes longer than rendering; `version` tells one state of the file from another."""
    import jinja2

    shipped = jinja2.FileSystemLoader(SHIPPED)
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.FileSystemLoader(templates), jinja2.PrefixLoader({"shipped": shipped}), shipped]
        ),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= _FILTERS
    environment.globals |= _GLOBALS
    return environment


def _run(template: jinja2.Template, path: Path, **context: Any) -> str:
    import jinja2

    try:
        return template.render(context)
    except jinja2.TemplateSyntaxError as error:
        raise UserError(f"{error.filename or path}:{error.lineno}: {error.message}") from None
    except Exception as error:
        # Whatever a template's expressions raise is its author's to mend; ours is tested.
        if path.parent == SHIPPED:
            raise
        raise UserError(f"{path}:{_line(error, path)}: {type(error).__name__}: {error}".partition("\n")[0]) from None


def _line(error: Exception, path: Path) -> int:
    frames = [f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path]
    return (frames or [None])[-1] or 1


def _folded(body: str, summary: str, title: str = "", is_open: bool = False) -> str:
    return markdown.folded(summary, body, title=title, is_open=is_open)


def _failing(failure: Failure) -> str:
    """The checks that failed, each under its name."""
    parts = []
    for check in failure.checks:
        # A step says itself what it is about; a test's name is what the grader wants.
        name = "" if check.name == failure.step else f"{markdown.code(check.name, 240)}\n\n"
        parts.append(name + markdown.fenced(check.message or "-", "text", _LONGEST_CHECK))
    if failure.checks_left_out:
        parts.append(f"And {counted(failure.checks_left_out, 'other')} that failed.")
    return "\n\n".join(parts)


def _excused(impact: Impact) -> bool:
    return impact.proposed.scored != impact.counts.scored


def _about(action: Action, eval_id: str) -> list[str]:
    return [what for what in action.about if what.endswith(f" of {eval_id}")]


def _mark(verdict: str) -> str:
    """Seen before it is read; only what is shown to have changed has one."""
    return next((f"{sign} " for found, sign in MARKS.items() if found.words == verdict), "")


def _interval(counts: Counts) -> str:
    return interval(counts).replace("-", "–")


_FILTERS: dict[str, Callable[..., Any]] = {
    "inline": markdown.inline,
    "cell": markdown.cell,
    "code": markdown.code,
    "code_cell": partial(markdown.code, in_table=True),
    "fenced": markdown.fenced,
    "folded": _folded,
}
_GLOBALS: dict[str, Any] = {
    "percent": percent,
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
