"""What exports are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from convex_evals.records.session import Label, Session
from convex_evals.sessions.message import Message


@dataclass(frozen=True)
class LabelledSession:
    """A session, and what people say of it."""

    session: Session
    label: Label  # all defaults where there is no file
    read_messages: Callable[[], Iterable[Message]]  # of messages.jsonl, which is read when it is needed
