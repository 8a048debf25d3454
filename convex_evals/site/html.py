"""Pages as HTML: the environment of their templates, and the words that templates know.

Whatever models, pull requests and providers wrote is text here: every value is escaped, and what cannot be seen in it
(controls, bidirectional marks) is spelled out. Only what this package made itself is markup.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from convex_evals.analysis.compare.words import points, rate, span
from convex_evals.analysis.leaderboard_tables import rank_words
from convex_evals.records import Counts, StepOutcome, StepResult, TestResult
from convex_evals.render.marks import MARKS
from convex_evals.render.numbers import dollars, duration, ends, interval, percent
from convex_evals.render.templates import page_environment
from convex_evals.site import urls
from convex_evals.stats import Conclusion, Paired, Rate
from convex_evals.text import capitalized, counted, plural, spelled_out

TEMPLATES = Path(__file__).with_name("templates")
# What a page may load and send. No page has a script or a style of its own.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
    ]
)
TONES = {Conclusion.IMPROVED: "good", Conclusion.REGRESSED: "bad"}
# A longer text is cut: no page is for reading megabytes, and browsers stand still.
MOST_TEXT = 60_000
_SHADES = 10


@dataclass(frozen=True)
class Rendition:
    """How pages reach their readers."""

    live: bool = False  # by `cli view`, which updates pages while a run is under way
    writes: bool = False  # whether forms are shown: the address has the token
    base_url: str | None = None  # where the site will stand


@dataclass(frozen=True)
class Page:
    """One page, before it is HTML."""

    place: str
    template: str
    title: str
    section: str = ""  # of the navigation
    context: Mapping[str, Any] = field(default_factory=dict)
    live_ms: int | None = None  # how often it changes now
    is_lasting: bool = True  # whether it is the same until a run, the suite or settings change
    has_charts: bool = False


def render(page: Page, delivery: Rendition) -> str:
    """The whole document."""
    template = _environment().get_template(f"{page.template}.html.j2")
    text: str = template.render(
        page=page,
        root=urls.root_of(page.place),
        policy=Markup(POLICY),
        live=delivery.live,
        writes=delivery.writes,
        canonical=delivery.base_url + urls.href(page.place) if delivery.base_url else None,
        **page.context,
    )
    return text


@cache
def _environment() -> Any:
    # These are made of the words here.
    from convex_evals.site import links
    from convex_evals.site.highlight import diff_lines, file_section, highlight
    from convex_evals.site.prose import to_html

    environment = page_environment(TEMPLATES, _shown, links.OF_PAGES)
    environment.globals |= {
        "file_section": file_section,
        "heat_cell": heat_cell,
        "mark": mark,
        "rate_cells": rate_cells,
        "test_list": test_list,
        "trial_head": trial_head,
        "urls": urls,
    }
    environment.filters |= {
        "bar": bar,
        "counted": counted,
        "data": data,
        "diff_lines": diff_lines,
        "diffbar": diffbar,
        "dollars": dollars,
        "duration": duration,
        "heat": heat,
        "highlight_as": lambda text, path: highlight(path, text),
        "editable": editable,
        "ends": ends,
        "interval": interval,
        "moment": moment,
        "percent": percent,
        "rank": rank_words,
        "plural": plural,
        "prose": to_html,
        "points": lambda found: points(found.difference),
        "capitalize_first": capitalized,
        "share": rate,
        "short": short,
        "span": lambda found: span(found.interval),
    }
    return environment


def _shown(value: Any) -> Any:
    """What an expression of a template puts into the page."""
    if isinstance(value, Markup):
        return value
    return "" if value is None else spelled_out(str(value))


def short(text: str, most: int = MOST_TEXT) -> str:
    """With a word about what was cut."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}\n... {left:,} more characters are not shown"


def editable(text: str) -> Markup:
    """As it is, for a field that people edit: what is spelled out would be saved so."""
    return escape(text)


def moment(ms: int) -> str:
    """A time in ms since 1970, in UTC; the number itself where no calendar has it."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return str(ms)


def data(value: Any) -> Markup:
    """For a script, in an element that is no script: nothing in it ends the element."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


@lru_cache(maxsize=5_000)  # names of steps, tests and models stand on thousands of pages
def shown_name(text: str) -> Markup:
    return escape(spelled_out(text))


@lru_cache(maxsize=5_000)
def mark(outcome: str, text: str | None = None) -> Markup:
    """An outcome, or something that has one."""
    return Markup(f'<span class="mark {outcome}">{MARKS.get(outcome, "–")} {shown_name(text or outcome)}</span>')


def trial_head(number: int, outcome: str, steps: Iterable[StepResult]) -> Markup:
    """What became of a trial, what each step said, and how long that took. Of thousands of pages, not in a template."""
    parts = []
    for step in steps:
        taken = "" if step.outcome is StepOutcome.SKIPPED else duration(step.duration_ms)
        parts.append(f"{mark(step.outcome, step.step)} <small>{taken}</small>")
    return Markup(f'<h2>Trial {number} {mark(outcome)}</h2>\n<p class="steps">{" ".join(parts)}</p>')


def test_list(tests: Iterable[TestResult]) -> Markup:
    """The grader's tests with their messages."""
    parts = []
    for test in tests:
        message = escape(spelled_out(short(test.message))) if test.message else None
        told = "" if message is None else f'<pre class="message" tabindex="0">{message}</pre>'
        parts.append(f"<li>{mark(test.outcome, test.name)} <small>{test.duration_ms} ms</small>{told}</li>")
    return Markup(f'<ul class="tests">{"".join(parts)}</ul>')


def heat(rate: float | None) -> str:
    """The class of a cell's shade."""
    return "hx" if rate is None else f"h{round(rate * _SHADES)}"


def bar(found: Rate) -> Markup:
    """A pass rate with its 95 % interval over evals of this kind, drawn."""
    rate = found.pass_rate
    if rate is None or found.interval is None:
        return Markup("")
    low, high = (f"{100 * end:.1f}" for end in found.interval)
    label = escape(f"{percent(found)}, 95 % interval {ends(found.interval)}")
    return Markup(
        f'<svg class="bar" viewBox="0 0 100 12" width="120" height="14" role="img" aria-label="{label}">'
        f'<rect class="track" width="100" height="12"/><rect class="fill" width="{100 * rate:.1f}" height="12"/>'
        f'<line class="whisker" x1="{low}" x2="{high}" y1="6" y2="6"/>'
        f'<line class="cap" x1="{low}" x2="{low}" y1="3" y2="9"/>'
        f'<line class="cap" x1="{high}" x2="{high}" y1="3" y2="9"/></svg>'
    )


def rate_cells(found: Rate) -> Markup:
    """Three cells: the pass rate, the same drawn, and its intervals."""
    rate = "" if found.pass_rate is None else found.pass_rate
    drawn, around = bar(found), interval(found)
    return Markup(f'<td class="n" data-value="{rate}">{percent(found)}</td><td>{drawn}</td><td class="n">{around}</td>')


def heat_cell(counts: Counts | None, address: str | None = None) -> Markup:
    """A shaded cell with a pass rate; empty of None."""
    if counts is None:
        return Markup('<td class="heat hx" data-value=""></td>')
    rate, shown = counts.pass_rate, percent(counts)
    inside = f'<a href="{escape(address)}">{shown}</a>' if address else shown
    lost = f", {counts.unscored} unscored" if counts.unscored else ""
    return Markup(
        f'<td class="heat {heat(rate)}" data-value="{"" if rate is None else rate}" '
        f'title="{counts.passed} of {counts.scored} trials passed{lost}">{inside}</td>'
    )


def diffbar(found: Paired) -> Markup:
    """A difference of pass rates with its 95 % interval, drawn from -50 to 50 points."""
    low, high = found.interval or (found.difference, found.difference)
    x, left, right = (f"{min(100.0, max(0.0, 50 + 100 * value)):.1f}" for value in (found.difference, low, high))
    label = escape(f"{points(found.difference)} points, 95 % interval {span(found.interval)}")
    return Markup(
        f'<svg class="diffbar" viewBox="0 0 100 12" width="120" height="14" role="img" aria-label="{label}">'
        f'<line class="zero" x1="50" x2="50" y1="0" y2="12"/>'
        f'<line class="whisker" x1="{left}" x2="{right}" y1="6" y2="6"/>'
        f'<circle class="dot {TONES.get(found.verdict, "unsure")}" cx="{x}" cy="6" r="3"/></svg>'
    )
