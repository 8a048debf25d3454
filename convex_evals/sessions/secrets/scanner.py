"""All that is looked for in one text, in bounded time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from convex_evals.sessions.secrets.assignments import find_assigned, find_passwords_of_commands
from convex_evals.sessions.secrets.encoded import encoded_parts
from convex_evals.sessions.secrets.headers import (
    find_addresses,
    find_authorization,
    find_cookies,
    find_pgpass,
    find_private_keys,
)
from convex_evals.sessions.secrets.patterns import RULES, find_jwt
from convex_evals.sessions.secrets.personal import find_emails, find_homes
from convex_evals.sessions.secrets.plugins import plugin_finders
from convex_evals.sessions.secrets.spans import Finder, SecretSpan, merged

LONGEST_TEXT = 8 * 1024 * 1024  # characters
MOST_SECONDS = 30.0  # of the processor, for one text; an ordinary one of the longest takes a tenth
_QUICK = 10_000  # characters that are looked through before a clock is worth reading
_SPANS_AT_ONCE = 64
_MOST_ENCODED = 2  # texts in each other
_SHORTEST = 6  # `a@b.co`; a shorter secret is told by its name only
# With the hints that are nowhere near the beginning of what they find, told in lower case.
_FINDERS: tuple[tuple[tuple[str, ...], Finder], ...] = (
    (("private key", "putty-user-key"), find_private_keys),
    (("eyj",), find_jwt),
    (("authorization", "bearer"), find_authorization),
    (("cookie",), find_cookies),
    ((":5432:", ":6432:", ":*:"), find_pgpass),
    (("://", ":\\/"), find_addresses),
    (("pass", "pwd", "pw", "secret", "token", "key", "credential", "mnemonic", "auth", "pat"), find_assigned),
    (("mysql", "mariadb", "sshpass", "redis-cli", "docker", "curl"), find_passwords_of_commands),
    (("@", "%40"), find_emails),
    (("home", "users"), find_homes),
)


class ScanError(Exception):
    """A text was not looked through; the message is the reason, in a few words."""


class _Detectors(NamedTuple):
    """All finders, and hints of what they find, one of which stands in each: in the text, or in it in lower case."""

    finders: tuple[Finder, ...]
    exact: tuple[tuple[str, int], ...]  # hints with the number of the finder
    low: tuple[tuple[str, int], ...]


def finders_for(text: str) -> tuple[Finder, ...]:
    """All that may find something in `text`, or in a part of it."""
    known, low = _detectors(), text.lower()
    numbers = {number for hint, number in known.exact if hint in text}
    numbers |= {number for hint, number in known.low if hint in low}
    return tuple(known.finders[number] for number in sorted(numbers))


@cache
def _detectors() -> _Detectors:
    exact = [(each.hints, each.find) for each in RULES]
    low = [*((each.words, each.find) for each in plugin_finders()), *_FINDERS]
    return _Detectors(
        tuple(finder for _, finder in (*exact, *low)),
        tuple((hint, number) for number, (hints, _) in enumerate(exact) for hint in hints),
        tuple((hint, number) for number, (hints, _) in enumerate(low, len(exact)) for hint in hints),
    )


def find(text: str, more: Sequence[Finder] = (), finders: Sequence[Finder] | None = None) -> list[SecretSpan]:
    """Secrets in `text`, in order and apart; `more` looks for what else is to be removed.

    `finders` are those for this text, or for one that it is a part of. Raises `ScanError` where the text is too long,
    or takes too long.
    """
    if len(text) > LONGEST_TEXT:
        raise ScanError(f"more than {LONGEST_TEXT:,} characters")
    end = time.thread_time() + MOST_SECONDS if len(text) > _QUICK else math.inf
    return merged(_in_time(_found(text, more, finders, 0), end))


def _found(
    text: str, more: Sequence[Finder], finders: Sequence[Finder] | None, encoded: int
) -> Iterator[SecretSpan | None]:
    """All spans, and None wherever time is worth a look; `encoded`: how many texts this one is encoded in."""
    if len(text) < _SHORTEST:
        return
    for finder in (*(finders_for(text) if finders is None else finders), *more):
        yield from finder(text)
        yield None
    if encoded < _MOST_ENCODED:
        for part in encoded_parts(text):
            for span in _found(part.text, more, None, encoded + 1):
                yield span and part.outer(span)


def _in_time(found: Iterator[SecretSpan | None], end: float) -> Iterator[SecretSpan]:
    for number, span in enumerate(found):
        if span is None or number % _SPANS_AT_ONCE == 0:
            _check(end)
        if span is not None:
            yield span


def _check(end: float) -> None:
    if end < math.inf and time.thread_time() > end:
        raise ScanError(f"took more than {MOST_SECONDS:g} seconds")
