"""A `Report` to Markdown, with what people wrote put back where it belongs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from convex_evals.errors import UserError
from convex_evals.render.templates import Job, TemplateFault, as_user_error, render_apart, render_here
from convex_evals.reports.analyze import to_keep
from convex_evals.reports.human_sections import (
    GENERAL,
    KINDS,
    Document,
    SectionKey,
    closing,
    harmless,
    opening,
    parse,
    trailer,
)
from convex_evals.reports.model import Failure, Report
from convex_evals.reports.vocabulary import NAME, place_key, plain
from convex_evals.suite.suite import read_project
from convex_evals.text import read_text

TEMPLATE = "report.md.j2"
SHIPPED = Path(__file__).parent / "templates"
_TOKEN = re.compile("\0\\d+\0")
_BLANK_LINES = re.compile(r"\n{3,}")


@dataclass(frozen=True)
class _Slot:
    """Where a place goes: the token stands in the rendered text until people's words replace it."""

    place: SectionKey
    trial: int
    text: str | None  # what people wrote; None: the place is new
    token: str


def render(report: Report, document: Document | None, templates: Path, name: str) -> str:
    """The file's text. `document` is what stands in the file `name` now; `templates` may hold another template.

    Raises `UserError` where a template is broken, or leaves out what people wrote.
    """
    slots = _slots(report, document)
    now = {_place(kind, f) for f in report.failures for kind in KINDS} | {SectionKey(GENERAL)}
    text, path = _rendered(
        templates,
        report=plain(report),
        tokens={place_key(p.kind, p.eval, p.signature): s.token for p, s in slots.items()},
        earlier=[plain(s) for p, s in slots.items() if p not in now],
    )
    _refuse_losses(text, slots.values(), path)
    newline = "\r\n" if document and document.crlf else "\n"
    # Marks that others wrote are none: the template's own are still tokens.
    text = harmless(_BLANK_LINES.sub("\n\n", text).strip("\n") + "\n").replace("\n", newline)
    by_token = {slot.token: _filled(slot, newline) for slot in slots.values()}
    text = _TOKEN.sub(lambda found: by_token.get(found[0], ""), text)
    whole = text + newline + trailer(text, summary_of(report)).replace("\n", newline)
    parse(whole, name)
    return whole


def _slots(report: Report, document: Document | None) -> dict[SectionKey, _Slot]:
    """The places of this report; at the end those that nothing has a place for, and people wrote in."""
    written = document.places if document else {}
    trials = {_place(kind, f): f.trials[0] for f in report.failures for kind in KINDS}
    trials = {SectionKey(GENERAL): 0, **trials}
    trials |= {p: w.trial for p, w in written.items() if p not in trials and not w.is_blank}
    return {
        place: _Slot(place, trial, written[place].text if place in written else None, f"\0{n}\0")
        for n, (place, trial) in enumerate(trials.items())
    }


def _place(kind: str, failure: Failure | None) -> SectionKey:
    return SectionKey(kind, failure.eval, failure.signature.key) if failure else SectionKey(kind)


def _refuse_losses(text: str, slots: Iterable[_Slot], path: Path) -> None:
    shown = Counter(_TOKEN.findall(text))
    for slot in slots:
        times = shown[slot.token]
        if times > 1 or (times == 0 and slot.text and slot.text.strip()):
            what = f"{slot.place.kind} on {slot.place.eval}" if slot.place.eval else "notes on the run"
            raise UserError(f"{path}: shows the place for {what} {times} times; show every place once, and `earlier`")


def _filled(slot: _Slot, newline: str) -> str:
    text = newline if slot.text is None else slot.text
    return f"{opening(slot.place, slot.trial)}{newline}{text}{closing(text).replace(chr(10), newline)}"


def summary_of(report: Report) -> dict[str, Any]:
    """What the index says about a report."""
    return {
        "run_id": report.run_id,
        "date": report.date,
        "model": report.model,
        "experiment": report.experiment,
        "synthetic": report.synthetic,
        "counts": report.counts.model_dump(),
        "intervals": [report.rate.interval, report.rate.interval_these_evals],
        "excused": report.impact.decided.scored - report.counts.scored,
        "failures": len(report.failures),
        "undecided": report.impact.undecided,
        "verdict": report.previous.verdict if report.previous else None,
        "analysis": to_keep(report),
    }


def _rendered(templates: Path, **context: Any) -> tuple[str, Path]:
    """The text of the template, and where that stands: `templates`, or else with us. Raises `UserError`."""
    own = _own_sources(templates)
    path = (templates if TEMPLATE in own else SHIPPED) / TEMPLATE
    shipped = _shipped_sources()
    tokens = context.pop("tokens")
    job = Job(TEMPLATE, {**shipped, **own}, [context], None, NAME, [tokens])
    try:
        return (render_apart if own else render_here)(job)[0][""], path
    except TemplateFault as fault:
        raise as_user_error(
            fault, lambda name: str((templates if name in own else SHIPPED) / name), str(path)
        ) from None


def _own_sources(templates: Path) -> dict[str, str]:
    return read_project(templates, lambda name: name.endswith(".j2"), root=templates.parent)


@cache
def _shipped_sources() -> dict[str, str]:
    """Under their own names, where a folder of templates has none of that name, and always below `shipped/`."""
    found = {path.name: read_text(path) for path in SHIPPED.glob("*.j2")}
    return {**found, **{f"shipped/{name}": text for name, text in found.items()}}
