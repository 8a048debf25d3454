"""Which sessions a page lists: conditions and the number of the page, as the query of its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from convex_evals.records.session import STATUSES, SessionStatus
from convex_evals.sessions.index import SessionFilter

_LONGEST = 200  # characters of a condition
_MOST_PAGES = 1_000_000


@dataclass(frozen=True)
class SessionView:
    """The sessions that a reviewer is looking at."""

    ready: bool = True  # the evals; else the sessions that are not marked as such
    status: SessionStatus | None = None
    tag: str = ""
    search: str = ""
    page: int = 1

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> Self:
        """Read a query. What is wrong in it is as if it was not given: addresses are typed and kept for long."""
        page = fields.get("page", "")
        return cls(
            ready=fields.get("ready") != "no",
            status=STATUSES.get(fields.get("status", "")),
            tag=_condition(fields.get("tag", "")),
            search=_condition(fields.get("q", "")),
            page=max(1, min(int(page), _MOST_PAGES)) if page.isascii() and page.isdigit() and len(page) < 9 else 1,
        )

    def fields(self) -> dict[str, str]:
        """Return the query's fields, without those that have their default."""
        found = {
            "ready": "" if self.ready else "no",
            "status": self.status.value if self.status else "",
            "tag": self.tag,
            "q": self.search,
            "page": str(self.page) if self.page > 1 else "",
        }
        return {name: value for name, value in found.items() if value}

    @property
    def query(self) -> str:
        """With its question mark; empty where all is default."""
        fields = self.fields()
        return f"?{urlencode(fields)}" if fields else ""

    def but(self, **changes: Any) -> Self:
        """Return the first page of what is listed with other conditions."""
        return replace(self, **{"page": 1, **changes})

    def filter(self) -> SessionFilter:
        return SessionFilter(
            status=self.status, tags=(self.tag,) if self.tag else (), ready=self.ready, search=self.search or None
        )


def _condition(text: str) -> str:
    return text.replace("\n", " ").strip()[:_LONGEST]
