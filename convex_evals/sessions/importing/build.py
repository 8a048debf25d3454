"""The session that a conversation becomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from convex_evals.models.price import tariff_named
from convex_evals.records.generation import Usage
from convex_evals.records.hashes import sha256_text
from convex_evals.records.names import MOST_DOLLARS, MOST_NATURAL
from convex_evals.records.session import Session
from convex_evals.sessions.conversation import Conversation, session_id
from convex_evals.sessions.exchanges import exchanges, turns
from convex_evals.sessions.exports.atif import trajectory
from convex_evals.sessions.importing.redacted import Redacted
from convex_evals.sessions.message import Message
from convex_evals.sessions.store import to_lines

_LONGEST_TITLE = 80


@dataclass(frozen=True)
class Built:
    """A session, and the text of its files."""

    session: Session
    messages: str
    raw: str

    def trajectory(self, messages: Sequence[Message]) -> dict[str, Any]:
        return trajectory(self.session, messages)


def source_hash(found: Conversation) -> str:
    """Of the records as they were read."""
    return sha256_text("\n".join(found.raw))


def build(found: Conversation, redacted: Redacted, *, revision: int, secrets_kept: bool) -> Built:
    """`found`: as it was read; `redacted`: what may be written of it."""
    kept = redacted.conversation
    messages = to_lines(message.to_data() for message in kept.messages)
    raw = "".join(f"{line}\n" for line in kept.raw)
    cost, is_estimated = cost_of(kept)
    session = Session(
        id=found.session_id,
        revision=revision,
        tool=found.tool,
        tool_version=kept.tool_version,
        native_id=kept.native_id,
        title=kept.title or first_words(kept.messages),
        started_at=kept.started_at or next((each.time for each in kept.messages if each.time), None),
        ended_at=ended_at(kept),
        folder=kept.folder,
        git_branch=kept.git_branch,
        models=tuple(dict.fromkeys(each.model for each in kept.messages if each.model)),
        messages=len(kept.messages),
        exchanges=len(exchanges(kept.messages)),
        messages_sha256=sha256_text(messages),
        raw_sha256=sha256_text(raw),
        source_sha256=source_hash(found),
        usage=_sum([each.usage for each in kept.messages if each.usage]),
        cost_usd=cost,
        cost_estimated=is_estimated,
        records={fate: count for fate, count in sorted(kept.records.fates.items()) if count},
        unknown=dict(kept.records.unknown),
        branches=kept.branches,
        parent=None if found.parent is None else session_id(found.tool, found.parent),
        redacted=dict(sorted(redacted.counts.items())),
        secrets_kept=secrets_kept,
    )
    return Built(session, messages, raw)


def ended_at(found: Conversation) -> str | None:
    """Time of the last message, as far as times are known."""
    return next((each.time for each in reversed(found.messages) if each.time), found.started_at)


def first_words(messages: Sequence[Message]) -> str | None:
    """The beginning of the first request."""
    asked = next((turn.request for turn in turns(messages) if turn.request.strip()), "")
    line = " ".join(asked[: 10 * _LONGEST_TITLE].split())
    if len(line) <= _LONGEST_TITLE:
        return line or None
    return line[:_LONGEST_TITLE].rsplit(" ", 1)[0] + "…"


def shown_folder(folder: str | None, root: Path, home: Path) -> str | None:
    """Relative to `root`, the folder of the sessions; else to the home folder, as `~/...`; else as it is."""
    if folder is None:
        return None
    path = PurePosixPath(folder)
    for base, prefix in ((root, ""), (home, "~/")):
        if path.is_relative_to(base.as_posix()):
            return prefix + path.relative_to(base.as_posix()).as_posix()
    return folder


def cost_of(found: Conversation) -> tuple[float | None, bool]:
    """Dollars as the agent recorded them, else by list prices, and which of both; None where a price is not known."""
    if found.cost_usd is not None:
        return found.cost_usd, False
    total, is_estimated, is_known = 0.0, False, False
    for message in found.messages:
        if message.cost_usd is not None:
            total, is_known = total + message.cost_usd, True
        elif message.usage is not None:
            tariff = tariff_named(message.model or "")
            if tariff.price is None:
                return None, False
            total, is_known, is_estimated = total + tariff.cost(message.usage), True, True
    return (round(min(total, MOST_DOLLARS), 6), is_estimated) if is_known else (None, False)


def _sum(usages: Sequence[Usage]) -> Usage:
    """Of all replies, as far as a record holds it: each figure may be anything that a file said."""
    totals = {name: sum(getattr(each, name) for each in usages) for name in Usage.model_fields}
    return Usage(**{name: min(total, MOST_NATURAL) for name, total in totals.items()})
