"""Plain text for people: what the person and the assistant said, as they wrote it, and what the session cost.

What the tools and the agent itself put between is left out. Whatever is not known is left out, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from convex_evals.records.session import Label, Session
from convex_evals.sessions.exports.labelled import LabelledSession
from convex_evals.sessions.exports.parts import PartedFormat
from convex_evals.sessions.message import ASSISTANT, USER, Message
from convex_evals.text import well_formed

_NAMES = {USER: "User", ASSISTANT: "Assistant"}


def _part(labelled: LabelledSession) -> Iterator[bytes]:
    return (well_formed(piece).encode() for piece in _pieces(labelled))


FORMAT = PartedFormat(_part, separator=b"\n")  # an empty line between sessions


def _pieces(labelled: LabelledSession) -> Iterator[str]:
    title = " ".join((labelled.session.title or "").split()) or labelled.session.id
    yield f"## Session: {title}\n\n"
    for message in labelled.read_messages():
        if _is_said(message):
            yield f"**{_NAMES[message.role]}:** {message.text}\n\n"
    yield "\n\n".join(filter(None, ("---", _figures(labelled.session), _review(labelled.label)))) + "\n"


def _is_said(message: Message) -> bool:
    return message.role in _NAMES and not message.injected and bool(message.text.strip())


def _figures(session: Session) -> str:
    tokens = session.usage.input_tokens + session.usage.output_tokens
    parts = (
        f"Tokens: {tokens:,}" if tokens else "",
        "" if session.cost_usd is None else f"Cost: {_dollars(session.cost_usd)}",
        f"Model: {', '.join(session.models)}" if session.models else "",
    )
    return " | ".join(filter(None, parts))


def _review(label: Label) -> str:
    tags = f"Tags: {', '.join(label.evalTags)}" if label.evalTags else ""
    return " | ".join(filter(None, (f"Status: {label.evalStatus.value}", tags)))


def _dollars(amount: float) -> str:
    """Cents, or as many digits as a smaller amount needs to be seen."""
    return f"${amount:,.2f}" if amount >= 0.005 or amount == 0 else f"${amount:.4f}"
