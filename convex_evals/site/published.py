"""Addresses of pages on the site that `cli site` wrote, for what links to it from elsewhere."""

from __future__ import annotations

from urllib.parse import quote

from convex_evals.guidelines.diff_links import PageLinks
from convex_evals.site import urls

# As Markdown takes them in a link: without spaces and parentheses.
_KEPT = "/:%~@[]!$&'*+,;="


def page_links(base_url: str) -> PageLinks:
    """For a report on guidelines. `base_url` ends in a slash."""
    base = quote(base_url, safe=_KEPT)

    def address(place: str) -> str:
        return f"{base}{urls.href(place)}"

    return PageLinks(
        overviews={
            "guidelines": address(urls.GUIDELINES),
            "comparisons": address(urls.COMPARE),
            "evals": address(urls.EVALS),
        },
        eval=lambda eval_id: address(urls.eval_page(eval_id)),
        model=lambda slug: address(urls.model(slug)),
    )
