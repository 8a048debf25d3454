"""How a page leads to others: each of these gets the variables of its template, and with them the page, first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from convex_evals.site import urls
from convex_evals.site.html import mark, shown_name

# Of the navigation.
_SECTIONS = (
    ("Leaderboard", urls.INDEX),
    ("Matrix", urls.matrix("default")),
    ("Evals", urls.EVALS),
    ("Runs", urls.RUNS),
    ("Guidelines", urls.GUIDELINES),
    ("Compare", urls.COMPARE),
    ("Reports", urls.REPORTS),
)
SESSIONS = "Sessions"
Context = Mapping[str, Any]


def _href(context: Context, place: str, fragment: str = "") -> str:
    return urls.href(place, fragment, context["page"].place)


def _addresses(context: Context, choices: Iterable[tuple[str, str, bool]]) -> list[tuple[str, str, bool]]:
    """Choices with the address in the place of the place."""
    return [(text, urls.href(place, of=context["page"].place), chosen) for text, place, chosen in choices]


def _linked(context: Context, chart: Any) -> Any:
    """A chart's data with an address for each place."""
    if isinstance(chart, Mapping):
        found = {key: _linked(context, value) for key, value in chart.items() if key != "place"}
        return {**found, "href": urls.href(chart["place"], of=context["page"].place)} if "place" in chart else found
    return [_linked(context, each) for each in chart] if isinstance(chart, list) else chart


# What follows stands on thousands of pages. A template takes a few times as long: it escapes each piece by itself.
# Addresses are quoted, so nothing in them is markup.


def _navigation(context: Context) -> Markup:
    """To all sections."""
    page = context["page"]
    return _to_sections(page.section, page.place.rpartition("/")[0], context["live"])


@lru_cache(maxsize=1_000)
def _to_sections(own: str, folder: str, live: bool) -> Markup:
    """From any page of the section `own` in `folder`. No site has pages on sessions."""
    links = []
    for section, place in (*_SECTIONS, *(((SESSIONS, urls.SESSIONS),) if live else ())):
        current = ' aria-current="page"' if section == own else ""
        links.append(f'<a href="{urls.href(place, of=f"{folder}/")}"{current}>{section}</a>')
    return Markup("\n".join(links))


def _crumbs(context: Context, above: Sequence[tuple[str, str]], own: str) -> Markup:
    """Up from the page, which is called `own`: names and places, the nearest last."""
    page, items = context["page"].place, []
    for n, (text, place) in enumerate(above, 1):
        key = ' data-key="u"' if n == len(above) else ""
        items.append(f'<li><a href="{urls.href(place, of=page)}"{key}>{shown_name(text)}</a></li>\n')
    items.append(f'<li><span aria-current="page">{shown_name(own)}</span></li>\n')
    return Markup(f'<nav class="crumbs" aria-label="Breadcrumb"><ol>\n{"".join(items)}</ol></nav>\n')


def _trial_links(_: Context, trials: Iterable[tuple[int, str]]) -> Markup:
    """To trials on the page: number and outcome."""
    links = [f'<a href="#trial-{n}">{mark(outcome, f"#{n} {outcome}")}</a> ' for n, outcome in trials]
    return Markup("".join(links))


def _key_links(context: Context, pages: Iterable[tuple[str, str, str]]) -> Markup:
    """To pages that are one key away: key, place, and what they are."""
    own = context["page"].place
    links = [
        f'<a data-key="{key}" href="{urls.href(place, of=own)}">{shown_name(text)}</a>' for key, place, text in pages
    ]
    return Markup(" ".join(links))


def _model_list(context: Context, runs: Iterable[tuple[str, str, str]]) -> Markup:
    """To the page of each model's run: model, what passed, place."""
    own, items = context["page"].place, []
    for model, passed, place in runs:
        shown = shown_name(model)
        link = f"<b>{shown}</b>" if place == own else f'<a href="{urls.href(place, of=own)}">{shown}</a>'
        items.append(f"<li>{link} {passed}</li> ")
    return Markup("".join(items))


OF_PAGES: Mapping[str, Callable[..., Any]] = {
    "addresses": _addresses,
    "crumbs": _crumbs,
    "href": _href,
    "key_links": _key_links,
    "linked": _linked,
    "model_list": _model_list,
    "navigation": _navigation,
    "trial_links": _trial_links,
}
