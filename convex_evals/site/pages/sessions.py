"""The list of sessions: the evals among them, chosen by status, tag and words, to be reviewed and exported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from convex_evals.records.session import SessionStatus
from convex_evals.sessions.exports import EXPORTS
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.listing import SHORT, cost_text
from convex_evals.sessions.store import SessionStore
from convex_evals.site import urls
from convex_evals.site.html import Page
from convex_evals.site.session_view import SessionView

SECTION = "Sessions"
PAGE_SIZE = 100
STATUS_NAMES = {
    SessionStatus.GOLDEN: "golden",
    SessionStatus.CORRECT: "correct",
    SessionStatus.INCORRECT: "incorrect",
    SessionStatus.NEEDS_REVIEW: "needs review",
}
_TONES = {
    SessionStatus.GOLDEN: "passed",
    SessionStatus.CORRECT: "passed",
    SessionStatus.INCORRECT: "failed",
    SessionStatus.NEEDS_REVIEW: "unscored",
}


class ViewLink(NamedTuple):
    """One of several views."""

    text: str
    query: str
    is_chosen: bool


def sessions_page(store: SessionStore, view: SessionView) -> Page:
    """Make the page of `view`; the last one where it has fewer pages. Raises `UserError`."""
    with open_index(store) as index:
        every = index.outline(view.but(status=None).filter())
        ids = [session_id for session_id, status in every if view.status in (None, status)]
        pages = max(1, -(-len(ids) // PAGE_SIZE))
        view = view.but(page=min(view.page, pages))
        entries = index.entries(ids[(view.page - 1) * PAGE_SIZE : view.page * PAGE_SIZE])
        evals, others = (index.count(SessionFilter(ready=ready)) for ready in (True, False))
        tags, problems = index.tags(), index.problems
    context = {
        "view": view,
        "entries": entries,
        "total": len(ids),
        "evals": evals,
        "others": others,
        "kinds": _kinds(view, evals, others),
        "statuses": _statuses(view, Counter(status for _, status in every)),
        "tags": tags if view.tag in ("", *tags) else {**tags, view.tag: 0},
        "pages": pages,
        "formats": list(EXPORTS),
        "problems": problems,
        "status_names": STATUS_NAMES,
        "tones": _TONES,
        "short_id": SHORT,
        "cost_text": cost_text,
    }
    return Page(urls.SESSIONS, "sessions", "Sessions", SECTION, context, is_lasting=False)


def _kinds(view: SessionView, evals: int, others: int) -> Sequence[ViewLink]:
    """The evals and the other sessions. Conditions are left behind: they rarely fit both."""
    return [
        ViewLink(f"Evals ({evals:,})", SessionView().query or "?", view.ready),
        ViewLink(f"Other sessions ({others:,})", SessionView(ready=False).query, not view.ready),
    ]


def _statuses(view: SessionView, numbers: Counter[SessionStatus]) -> Sequence[ViewLink]:
    found = [ViewLink(f"All ({numbers.total():,})", view.but(status=None).query or "?", view.status is None)]
    found += [
        ViewLink(f"{STATUS_NAMES[status]} ({numbers[status]:,})", view.but(status=status).query, view.status is status)
        for status in SessionStatus
    ]
    return found
