"""Times as agents record them, in one form."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

_MILLISECONDS_FROM = 10**11  # as seconds, the year 5138


def timestamp(value: Any) -> str | None:
    """RFC 3339 in UTC with milliseconds, of ISO 8601 or of seconds or milliseconds since 1970; None of anything else.

    A time without a zone is taken for UTC.
    """
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            time = datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
        else:
            time = datetime.fromisoformat(str(value).strip())
            time = time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
        return time.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    except (ValueError, OverflowError, OSError):
        return None
