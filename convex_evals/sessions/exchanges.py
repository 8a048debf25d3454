"""Pairs of what a person asked and what was answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from convex_evals.sessions.message import ASSISTANT, TOOL, USER, Message

_ANSWERING = (ASSISTANT, TOOL, "function")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request of a person, and the reply."""

    request: str
    reply: str
    at: int  # index of the request's first message: those before it are the context
    end: int  # index behind the request's last message: `messages[:end]` is what the reply answers


def exchanges(messages: Sequence[Message]) -> list[Exchange]:
    """The requests that were answered in words, in order.

    What a person wrote in several messages before anything was answered is one request. What the agent wrote under the
    role of the user is part of no request; what it did between its texts is part of no reply.
    """
    return [turn for turn in turns(messages) if turn.reply]


def turns(messages: Sequence[Message]) -> list[Exchange]:
    """As `exchanges`, with the requests that were not answered; their reply is empty."""
    bounds = [*_starts(messages), len(messages)]
    return [_turn(messages, at, end) for at, end in pairwise(bounds)]


def last_turn(messages: Sequence[Message]) -> Exchange | None:
    """Return the last request that was answered; where none was, the last request."""
    found = exchanges(messages) or turns(messages)
    return found[-1] if found else None


def _starts(messages: Sequence[Message]) -> Iterator[int]:
    is_asked = False
    for at, message in enumerate(messages):
        if _is_of_person(message):
            if not is_asked:
                yield at
            is_asked = True
        elif message.role in _ANSWERING:
            is_asked = False


def _turn(messages: Sequence[Message], at: int, end: int) -> Exchange:
    turn = messages[at:end]
    asked = [index for index, message in enumerate(turn) if _is_of_person(message)]
    texts = [message.text for message in turn if message.role == ASSISTANT]
    return Exchange(
        request="\n\n".join(text for index in asked if (text := turn[index].text)),
        reply="\n\n".join(text for text in texts if text.strip()),
        at=at,
        end=at + asked[-1] + 1,
    )


def _is_of_person(message: Message) -> bool:
    return message.role == USER and not message.injected
