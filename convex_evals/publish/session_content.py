"""What a deployment is sent of a session, and of the keys of exports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

from convex_evals.records.api_key import ApiKey
from convex_evals.records.hashes import sha256_parts
from convex_evals.sessions.exports import IN_PARTS, LabelledSession

LARGEST_EXPORT = 20 << 20  # bytes of an answer, as the app has it: leaderboard/convex/exports.ts
_FRAME = 100  # bytes around parts, at most
_UNKNOWN_TIME = 2**53 - 1  # behind all times


@dataclass(frozen=True)
class SessionContent:
    """One session as it is exported from a deployment."""

    id: str
    status: str
    tags: tuple[str, ...]
    order: int  # minus the time of the last message, ms since 1970
    parts: Mapping[str, bytes]  # by format; a format in which the session leaves no trace has none

    @cached_property
    def digest(self) -> str:
        """Of all of it."""
        parts = [f"{form} {sha256(data).hexdigest()}" for form, data in sorted(self.parts.items())]
        return sha256_parts([self.status, str(self.order), str(len(self.tags)), *self.tags, *parts])

    def too_large(self) -> str | None:
        """Why no answer of a deployment could have it; None where one can."""
        form, size = max(((form, len(data)) for form, data in self.parts.items()), key=lambda each: each[1])
        if size < LARGEST_EXPORT - _FRAME:
            return None
        return (
            f"has {size / 2**20:.1f} MB as {form}, and an answer of a deployment at most {LARGEST_EXPORT >> 20}; "
            "`cli view` exports it"
        )


def content_of(labelled: LabelledSession) -> SessionContent:
    """Raises `UserError` where a file of the session is broken."""
    messages = list(labelled.read_messages())
    once = replace(labelled, read_messages=lambda: messages)
    parts = {form: b"".join(parted.part(once)) for form, parted in IN_PARTS.items()}
    return SessionContent(
        id=labelled.session.id,
        status=labelled.label.evalStatus.value,
        tags=labelled.label.evalTags,
        order=_order(labelled.session.ended_at or labelled.session.started_at),
        parts={form: data for form, data in parts.items() if data},
    )


def _order(time: str | None) -> int:
    return _UNKNOWN_TIME if time is None else -round(datetime.fromisoformat(time).timestamp() * 1000)


def keys_content(keys: Iterable[ApiKey]) -> list[dict[str, Any]]:
    """The keys as a deployment has them, by name."""
    return [
        {
            "name": key.name,
            "keySha256": key.key_sha256,
            "scopes": list(key.scopes),
            "expires": key.expires,
            "revoked": key.revoked,
        }
        for key in sorted(keys, key=lambda key: key.name)
    ]


def keys_digest(keys: list[dict[str, Any]]) -> str:
    return sha256(json.dumps(keys, sort_keys=True).encode()).hexdigest()
