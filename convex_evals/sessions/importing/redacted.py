"""A conversation without its secrets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from convex_evals.inputs.bounded_json import decode
from convex_evals.sessions.conversation import Conversation
from convex_evals.sessions.lines import LIMITS
from convex_evals.sessions.message import ASSISTANT, SYSTEM, TOOL, USER, Message
from convex_evals.sessions.secrets import Redactor
from convex_evals.sessions.secrets.spans import NOT_SCANNED, not_scanned
from convex_evals.text import well_formed

_ROLES = frozenset((SYSTEM, USER, ASSISTANT, TOOL))
_MOST_KINDS = 50
_OTHER_KINDS = "other kinds"


@dataclass(frozen=True)
class Redacted:
    """What may be written."""

    conversation: Conversation  # with its raw records as lines of JSON
    counts: Counter[str]  # what was removed, by kind


def redact(found: Conversation, home: Path, *, keep: bool) -> Redacted:
    """Remove secrets from every text of a conversation; with `keep`, only count them."""
    redactor = Redactor(home, keep=keep)
    raw = redactor.apart()
    done = replace(
        found,
        messages=[_message(message, redactor) for message in found.messages],
        raw=[_line(text, raw) for text in found.raw],
        records=replace(found.records, unknown=_kinds(found.records.unknown, redactor)),
        native_id=well_formed(redactor.text(found.native_id)),
        title=_text(found.title, redactor),
        tool_version=_text(found.tool_version, redactor),
        folder=_text(found.folder, redactor),
        git_branch=_text(found.git_branch, redactor),
    )
    # Messages say again what raw records say, so that both would count it twice.
    return Redacted(done, redactor.counts | raw.counts)


def _text(text: str | None, redactor: Redactor) -> str | None:
    return None if text is None else well_formed(redactor.text(text))


def _message(message: Message, redactor: Redactor) -> Message:
    data = redactor.data(message.to_data())
    try:
        return Message.from_data(_sound(data))
    except (ValueError, KeyError, TypeError, AttributeError):
        # Something that a message cannot do without was taken for a secret, or not scanned.
        redactor.counts[NOT_SCANNED] += 1
        role = message.role if message.role in _ROLES else USER
        return Message(role, not_scanned("not a message without its secrets"), time=message.time)


def _sound(value: Any) -> Any:
    """With every text as UTF-8 can hold it."""
    text = json.dumps(value, ensure_ascii=False)
    sound = well_formed(text)
    return value if sound == text else json.loads(sound)


def _line(raw: str, redactor: Redactor) -> str:
    """A raw record as a line of JSON: itself, or a text where it is none."""
    done = redactor.line(raw)
    if "\n" not in done and _is_json(done):
        return done
    return well_formed(json.dumps(done, ensure_ascii=False))


def _is_json(text: str) -> bool:
    try:
        decode(text, LIMITS)
    except (ValueError, RecursionError):
        return False
    return True


def _kinds(kinds: Counter[str], redactor: Redactor) -> Counter[str]:
    """The most frequent kinds of unknown records by name, and the others together."""
    done: Counter[str] = Counter()
    for number, (kind, count) in enumerate(_in_order(kinds)):
        done[_OTHER_KINDS if number >= _MOST_KINDS else well_formed(redactor.text(kind))] += count
    return done


def _in_order(kinds: Counter[str]) -> Iterable[tuple[str, int]]:
    return sorted(kinds.items(), key=lambda each: (-each[1], each[0]))
